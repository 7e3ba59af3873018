// The network of a system; a chosen model shows what its answers cost, and sliders for what if it were better.

SECTIONS.system = (data) => {
  const state = remember("system", { model: data.start, accuracy: {} });
  const arithmetic = data.sliders.why_not ? null : new SystemArithmetic(data.sliders);
  const accuracy = (place, c, a) => state.accuracy[`${place},${c},${a}`] ?? null;
  const listeners = [];
  const changed = () => {
    const current = { model: state.model, cost: data.cost, decided: null };
    if (arithmetic) {
      current.decided = arithmetic.decide(accuracy);
      current.cost = arithmetic.cost(current.decided);
    }
    for (const listener of listeners) listener.move(current);
  };
  const choose = (model) => {
    state.model = model;
    changed();
  };
  const follow = (listener) => {
    listeners.push(listener);
    return listener;
  };
  const cards = follow(modelCards(data));
  const outcome = follow(outcomeCard(data, arithmetic)).element;
  const whatIf = node("div", { class: "pair" }, follow(slidersCard(data, state, arithmetic, changed)).element);
  follow({ move({ model }) {
    const place = arithmetic ? arithmetic.axes.findIndex((axis) => axis.model === model) : -1;
    const movable = place >= 0 && !whyFixed(data, model, arithmetic.axes[place]);
    while (whatIf.children.length > 1) whatIf.lastChild.remove();
    if (movable) whatIf.append(accuracyChart(data, arithmetic, model, place, accuracy).figure);
    whatIf.classList.toggle("single", !movable);
  } });
  const built = node(
    "div", { class: "explorer" },
    ownTable(data),
    node("p", { class: "intro" }, t("system.intro")),
    follow(networkChart(data, choose)).chart.figure,
    node(
      "div", { class: "card choice" },
      follow(modelChoice(data, choose)).element,
      rulesList(data),
      data.hidden > 0 ? node("p", { class: "note" }, t("system.hidden", { n: data.hidden })) : null,
    ),
    outcome,
    whatIf,
    cards.figures,
    cards.costs,
  );
  changed();
  return built;
};

// The system's own table: shares of each truth, and what a case of it costs.
function ownTable({ own, classes, decisions, confidence }) {
  if (!own) return null;
  const sure = (made, low, high, write) => (
    low === null ? made : node("span", {}, made, " ", node("span", { class: "limits" }, writeInterval(low, high, write)))
  );
  const share = ({ share: value, low, high }) => sure(figureCell({ value }, writePercent), low, high, writePercent);
  const cost = ({ cost: value, low, high }) => sure(figureCell({ value }, writeCost), low, high, writeCost);
  const rows = classes.map((name, c) => [
    name, ...decisions.map((_, s) => share(own.shares[c * decisions.length + s])), cost(own.costs[c]),
    figureCell({ value: own.costs[c].total }, writeCost),
  ]);
  const head = [t("confusion.corner"), ...decisions, t("system.case_costs"), t("system.class_costs")];
  const cells = classes.map((name, c) => [
    name, ...decisions.map((_, s) => own.shares[c * decisions.length + s].share), own.costs[c].cost, own.costs[c].total,
  ]);
  return node(
    "div", { class: "card", id: "own-table" },
    node("h3", {}, t("system.own")),
    tableOf(head, rows, {
      caption: t("system.own_about", { confidence }), id: "own", csv: () => ({ head, rows: cells }),
    }),
  );
}

function modelChoice(data, choose) {
  const options = data.models.map(({ name }, i) => node("option", { value: i }, name));
  const select = node("select", { id: "model-choice", onchange: () => choose(Number(select.value)) }, options);
  const element = node("label", {}, t("system.choose"), " ", select);
  return { element, move({ model }) { select.value = String(model); } };
}

function rulesList({ rules }) {
  const rule = ({ name, text }) => (
    node("li", {}, node("b", {}, name ?? t("system.decision")), " = ", node("code", {}, text))
  );
  return node("ul", { class: "rules", "aria-label": t("system.rules") }, rules.map(rule));
}
