// One model: what its answers cost the system, between what the cost lies whatever the dependence, what it is worth.

const MOST_ROWS = 50;

function modelCards(data) {
  const costs = node("div", { id: "component-costs" });
  const figures = node("div", { id: "model-figures" });
  let shown = null;
  return { costs, figures, move({ model }) {
    if (model === shown) return;
    shown = model;
    costs.replaceChildren(componentCosts(data, data.models[model]));
    figures.replaceChildren(modelFigures(data.models[model]));
  } };
}

function componentCosts(data, model) {
  const { cells } = model;
  const confidence = { confidence: data.confidence };
  const sees = model.sees.length ? [t("system.sees")] : [];
  const sure = model.known && cells.expected_low[0] !== null;
  const head = [
    t("system.truth"), ...sees, t("system.says"), t("system.rate"), t("system.expected"),
    ...(sure ? [t("figures.interval", confidence)] : []),
    ...(model.known ? [t("system.excess"), ...(sure ? [t("system.excess_interval", confidence)] : [])] : []),
  ];
  const csv = () => ({ head: csvHead(model, sees), rows: cells.rate.map((_, i) => csvRow(data, model, i)) });
  const rows = cells.rate.slice(0, MOST_ROWS).map((_, i) => costRow(data, model, i, sure));
  const caption = t("system.costs_caption", { model: model.name });
  const cut = { n: cells.count, shown: rows.length };
  return node(
    "div", { class: "card" },
    node("h3", {}, t("system.component_costs", { model: model.name })),
    tableOf(head, rows, { caption, id: "component-costs", csv }),
    node("p", { class: "note" }, t(model.known ? "system.costs_mean" : "system.costs_range")),
    cut.n > cut.shown ? node("p", { class: "note" }, t("system.cells_cut", cut)) : null,
  );
}

// Cells are listed class by class, by what is seen, by what is said.
function cellAt(data, model, i) {
  const said = model.outputs.length;
  const seen = model.cells.count / (said * data.classes.length);
  const [c, a, j] = [Math.floor(i / (said * seen)), Math.floor(i / said) % seen, i % said];
  return { truth: data.classes[c], seen: model.seen[a] ?? [], says: model.outputs[j], right: model.right[c] === j };
}

function costRow(data, model, i, sure) {
  const { cells } = model;
  const { truth, seen, says, right } = cellAt(data, model, i);
  const number = (name, write = writeCost) => {
    const made = figureCell({ value: cells[name][i] }, write);
    made.dataset.figure = name;
    return made;
  };
  const limits = (low, high) => node("span", { class: "limits" }, writeLimits(cells[low][i], cells[high][i]));
  const mark = () => node("span", { role: "img", "aria-label": t("system.right") }, "✓");
  const answer = right ? node("span", { class: "right-answer" }, says, " ", mark()) : says;
  const before = [truth, ...(model.sees.length ? [seen.join(", ")] : []), answer, number("rate", writePercent)];
  if (!model.known) return [...before, limits("at_least", "at_most")];
  return [
    ...before, number("expected"), ...(sure ? [limits("expected_low", "expected_high")] : []),
    number("excess"), ...(sure ? [limits("excess_low", "excess_high")] : []),
  ];
}

function writeLimits(low, high) {
  if (low === null || high === null) return "–";
  return high - low > 1e-12 * Math.abs(high) ? writeInterval(low, high, writeCost) : t("system.exact");
}

function csvHead(model, sees) {
  const ends = (name) => [`${name}, ${t("figures.low")}`, `${name}, ${t("figures.high")}`];
  const [expected, excess] = [t("system.expected"), t("system.excess")];
  const figures = model.known ? [expected, ...ends(expected), excess, ...ends(excess)] : ends(expected);
  return [t("system.truth"), ...sees, t("system.says"), t("system.right"), t("system.rate"), ...figures];
}

function csvRow(data, model, i) {
  const { truth, seen, says, right } = cellAt(data, model, i);
  const { count, ...figures } = model.cells;
  const before = [truth, ...(model.sees.length ? [seen.join(", ")] : []), says, right ? 1 : 0];
  return [...before, ...Object.values(figures).map((list) => list[i])];
}

// The figures of one model, each with what it tells.
function modelFigures(model) {
  const { bounds, worth, in_all: inAll, threshold } = model;
  const span = (value, ends) => (ends ? { text: writeInterval(...ends, writeCost) } : { value });
  const groups = [
    [t("system.bounds"), [
      ["best", { value: bounds.best }, t("system.best")],
      ["independent", { value: bounds.independent }, t("system.independent")],
      ["worst", { value: bounds.worst }, t("system.worst")],
    ]],
    [t("system.worth"), [
      ["perfect", span(worth.perfect, worth.perfect_range), t("system.perfect")],
      ["saving", { value: worth.saving }, t("system.saving")],
      ["removed", span(worth.removed, worth.removed_range), t("system.removed", { answer: worth.answer })],
      ...(worth.share === null ? [] : [["share", { value: worth.share }, t("system.share")]]),
    ]],
    [t("system.in_all"), [
      ["in-expected", { value: inAll.expected }, t("system.by_expected")],
      ["in-excess", { value: inAll.excess }, t("system.by_excess")],
      ["in-dependence", { value: inAll.dependence }, t(model.by_rows ? "system.dependence" : "system.assumed")],
    ]],
  ];
  const rows = ([id, { value = null, text }, words]) => {
    const made = figureCell({ value }, text ? () => text : writeCost);
    made.id = `model-${id}`;
    return node("div", {}, node("dt", {}, words), node("dd", {}, made));
  };
  const score = threshold && threshold.value !== null
    ? node("p", { class: "note" }, t("system.threshold", { answer: threshold.yes, value: threshold.value }))
    : null;
  return node(
    "div", { class: "card" },
    node("h3", {}, t("system.model_worth", { model: model.name })),
    node(
      "div", { class: "thirds" },
      groups.map(([title, list]) => (
        node("div", {}, node("h4", {}, title), node("dl", { class: "readings tight" }, list.map(rows)))
      )),
    ),
    score,
  );
}
