// The confusion table of several classes: rows are the truth; the colour of a cell says what share of its row it is.

const CELL_MODES = ["shares", "counts"];

SECTIONS.matrix = (data) => {
  const state = remember("matrix", { mode: "shares" });
  const table = wholeMatrix(data);
  const place = node("div", {});
  const show = () => place.replaceChildren(matrixChart(table, state.mode).figure);
  const choose = (event) => {
    state.mode = event.target.value;
    show();
  };
  const words = { shares: t("matrix.shares"), counts: t("matrix.counts") };
  const option = (mode) => node("option", { value: mode, selected: mode === state.mode }, words[mode]);
  const choice = node("select", { id: "matrix-mode", onchange: choose }, CELL_MODES.map(option));
  const shown = { n: data.count, shown: data.truths.length };
  show();
  return node(
    "div", {},
    node("p", {}, node("label", {}, t("matrix.cells"), " ", choice)),
    shown.n > shown.shown ? node("p", {}, t("matrix.cut", shown)) : null,
    place,
    matrixTable(table),
  );
};

// Where not all classes are shown, one more column holds what was decided for the others.
function wholeMatrix({ truths, decisions, diagonal, cells, totals, count }) {
  if (count <= truths.length) return { truths, decisions, diagonal, cells, totals };
  const rest = cells.map((row, i) => totals[i] - row.reduce((sum, cell) => sum + cell, 0));
  return {
    truths, diagonal, totals,
    decisions: [...decisions, t("matrix.elsewhere")],
    cells: cells.map((row, i) => [...row, rest[i]]),
  };
}

function matrixChart(table, mode) {
  const { truths, decisions, cells, totals } = table;
  const wide = !NARROW.matches;
  const width = wide ? 900 : 340;
  const room = wide ? 18 : 9;
  const longest = Math.min(Math.max(...[...truths, ...decisions].map((name) => name.length)), room);
  const left = 34 + 7.4 * longest;
  const across = (width - left - 14) / decisions.length;
  const down = truths.length <= 12 ? 46 : truths.length <= 25 ? 26 : 17;
  const turned = longest * 7 > across - 4;
  const bottom = turned ? 44 + 5 * longest : 46;
  const chart = new Chart({
    id: "matrix-chart", title: t("matrix.chart"),
    about: mode === "shares" ? t("matrix.about_shares") : t("matrix.about_counts"),
    width, left, bottom, height: 12 + bottom + down * truths.length,
    x: {
      name: t("matrix.decision"), domain: [-0.5, decisions.length - 0.5], turned,
      ...named(decisions, room, across, turned ? 20 : 13),
    },
    y: { name: t("matrix.truth"), domain: [truths.length - 0.5, -0.5], ...named(truths, room, down, 13) },
    table: () => ({
      head: [t("confusion.corner"), ...decisions], rows: cells.map((row, i) => [truths[i], ...row]),
    }),
  });
  const most = Math.max(...cells.flat());
  const share = (i, j) => (totals[i] ? cells[i][j] / totals[i] : 0);
  cells.forEach((row, i) => row.forEach((count, j) => {
    const strength = mode === "shares" ? share(i, j) : count / (most || 1);
    const texts = [writeShare(share(i, j)), writeCount(count)];
    if (mode === "counts") texts.reverse();
    chart.add(...matrixCell(chart, i, j, { across, down }, strength, count ? texts : []));
  }));
  addReadout(chart, () => matrixReadouts(table, share), decisions.length);
  return chart;
}

// Ticks that are names; where they would stand too close, only some of them.
function named(names, room, step, least) {
  const every = Math.ceil(least / step);
  const short = (name) => (name.length > room ? `${name.slice(0, room - 1)}…` : name);
  return { ticks: names.map((_, i) => i).filter((i) => i % every === 0), write: (i) => short(names[i]) };
}

// Beyond a certain strength the ink changes sides; at this one both inks can be read in both themes.
const DARK_FROM = 0.74;

function matrixCell(chart, i, j, { across, down }, strength, [first, second]) {
  const x = chart.x(j);
  const y = chart.y(i);
  const box = { x: x - across / 2 + 0.5, y: y - down / 2 + 0.5, width: across - 1, height: down - 1 };
  const ground = shape("rect", { class: "heat-ground", ...box });
  const cell = shape("rect", { class: "heat", ...box, "fill-opacity": strength.toFixed(3) });
  const ink = strength >= DARK_FROM ? "heat-text strong" : "heat-text";
  const fits = first !== undefined && down >= 20 && across >= 7.4 * first.length;
  const both = fits && down >= 40 && across >= 7 * second.length;
  const texts = fits ? [centred(x, y + (both ? -2 : 4), first, { class: ink })] : [];
  if (both) texts.push(centred(x, y + 14, second, { class: `${ink} second` }));
  return [ground, cell, ...texts];
}

function matrixReadouts({ truths, decisions, cells }, share) {
  return cells.flatMap((row, i) => row.map((count, j) => ({
    x: j, y: i,
    text: () => t("matrix.readout", { n: count, truth: truths[i], decision: decisions[j], share: share(i, j) }),
  })));
}

function matrixTable({ truths, decisions, cells, totals }) {
  const cell = (value) => figureCell({ value }, writeCount);
  const rows = cells.map((row, i) => [truths[i], ...row.map(cell), cell(totals[i])]);
  const head = [t("confusion.corner"), ...decisions, t("matrix.total")];
  return node(
    "details", { class: "card" },
    node("summary", {}, t("matrix.as_table")),
    tableOf(head, rows, { caption: t("confusion.caption") }),
  );
}
