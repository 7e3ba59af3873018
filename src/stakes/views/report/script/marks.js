// Marks on a chart; the first word of their class says what they are, the second what they stand for.

function pathThrough(chart, xs, ys) {
  return xs.map((x, i) => `${i ? "L" : "M"}${chart.x(x).toFixed(2)} ${chart.y(ys[i]).toFixed(2)}`).join("");
}

// Steps as a precision curve has them: along first, then up or down.
function stepsThrough(chart, xs, ys) {
  return xs.map((x, i) => {
    const place = chart.x(x).toFixed(2);
    return i ? `V${chart.y(ys[i]).toFixed(2)}H${place}` : `M${place} ${chart.y(ys[0]).toFixed(2)}`;
  }).join("");
}

function line(chart, xs, ys, look = "line") {
  return shape("path", { class: look, d: pathThrough(chart, xs, ys) });
}

function band(chart, xs, low, high, look = "band") {
  const known = xs.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
  if (!known.length) return shape("path", { class: look });
  const there = pathThrough(chart, known.map((i) => xs[i]), known.map((i) => high[i]));
  const back = known.reverse();
  const andBack = pathThrough(chart, back.map((i) => xs[i]), back.map((i) => low[i])).replace("M", "L");
  return shape("path", { class: look, d: `${there}${andBack}Z` });
}

// Bars between neighbouring edges, standing on zero (heights may be negative: then they hang).
function bars(chart, edges, heights, look = "bar") {
  return shape("g", {}, heights.map((height, i) => {
    const left = chart.x(edges[i]);
    const top = chart.y(Math.max(height, 0));
    const size = Math.abs(chart.y(height) - chart.y(0));
    const width = Math.max(chart.x(edges[i + 1]) - left - 0.6, 0.4); // a hair of air between neighbours
    return size ? shape("rect", { class: look, x: left, y: top, width, height: size }) : null;
  }));
}

function dot(chart, x, y, look = "dot", r = 5) {
  return shape("circle", { class: look, cx: chart.x(x), cy: chart.y(y), r });
}

// An interval that stands upright at x, or lies flat at y.
function upright(chart, x, low, high, look = "whisker") {
  return shape("line", { class: look, x1: chart.x(x), x2: chart.x(x), y1: chart.y(low), y2: chart.y(high) });
}

function flat(chart, low, high, y, look = "whisker") {
  return shape("line", { class: look, x1: chart.x(low), x2: chart.x(high), y1: chart.y(y), y2: chart.y(y) });
}

function ruleAt(chart, x, look = "line rule") {
  return upright(chart, x, chart.y.domain[0], chart.y.domain[1], look);
}

// A level to compare with, all the way across.
function levelAt(chart, y, look = "line diagonal") {
  return flat(chart, chart.x.domain[0], chart.x.domain[1], y, look);
}

// Everything between two places of x.
function spanBetween(chart, low, high, look = "band honest") {
  const ends = [low, high].map((end) => chart.x(Math.min(Math.max(end, chart.x.domain[0]), chart.x.domain[1])));
  const height = chart.height - chart.margin.top - chart.margin.bottom;
  const width = Math.max(ends[1] - ends[0], 0);
  return shape("rect", { class: look, x: ends[0], y: chart.margin.top, width, height });
}
