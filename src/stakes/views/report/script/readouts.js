// What a chart tells about the place under the pointer, or, with the arrow keys, about one point after the other.

// points: () => [{ x, y, text }]; the nearest one is ringed and told below the chart. Where points stand in rows of so
// many, the keys up and down go from row to row.
function addReadout(chart, points, inRow = -1) {
  const ring = shape("circle", { class: "ring", r: 7, visibility: "hidden" });
  chart.overlay.append(ring);
  let place = -1;
  const tell = (index) => {
    const list = points();
    place = Math.max(0, Math.min(index, list.length - 1));
    const point = list[place];
    if (!point) return;
    ring.setAttribute("cx", chart.x(point.x));
    ring.setAttribute("cy", chart.y(point.y));
    ring.setAttribute("visibility", "visible");
    setText(chart.output, point.text());
  };
  const hush = () => {
    ring.setAttribute("visibility", "hidden");
    setText(chart.output, "\u00a0");
  };
  chart.svg.addEventListener("pointermove", (event) => tell(nearest(chart, points(), event)));
  chart.svg.addEventListener("pointerleave", hush);
  chart.svg.addEventListener("focus", () => { if (chart.svg.matches(":focus-visible")) tell(Math.max(place, 0)); });
  chart.svg.addEventListener("blur", hush);
  chart.svg.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: -inRow, ArrowDown: inRow, PageUp: 10, PageDown: -10 };
    const step = steps[event.key];
    const end = { Home: 0, End: Infinity }[event.key];
    if (step === undefined && end === undefined) return;
    event.preventDefault();
    tell(end ?? place + step);
  });
}

function nearest(chart, points, event) {
  const box = chart.svg.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * chart.width;
  const y = ((event.clientY - box.top) / box.height) * chart.height;
  let best = -1;
  let distance = Infinity;
  points.forEach((point, i) => {
    const far = Math.hypot(chart.x(point.x) - x, chart.y(point.y) - y);
    if (far < distance) [best, distance] = [i, far];
  });
  return best;
}
