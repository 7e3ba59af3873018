// The network of a system; a chosen model shows what its answers cost, and sliders for what if it were better.

SECTIONS.system = (data) => {
  const state = remember("system", { model: data.start, accuracy: {} });
  const arithmetic = data.sliders.why_not ? null : new SystemArithmetic(data.sliders);
  const listeners = [];
  const changed = () => {
    const current = { model: state.model, cost: data.cost, decided: null };
    if (arithmetic) {
      current.decided = arithmetic.decide((place, c, a) => state.accuracy[`${place},${c},${a}`] ?? null);
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
  const built = node(
    "div", { class: "explorer" },
    node("p", { class: "intro" }, t("system.intro")),
    follow(networkChart(data, choose)).chart.figure,
    node(
      "div", { class: "card choice" },
      follow(modelChoice(data, choose)).element,
      rulesList(data),
      data.hidden > 0 ? node("p", { class: "note" }, t("system.hidden", { n: data.hidden })) : null,
    ),
    node(
      "div", { class: "pair" },
      node(
        "div", { class: "stack" },
        follow(outcomeCard(data, arithmetic)).element,
        follow(slidersCard(data, state, arithmetic, changed)).element,
      ),
      cards.figures,
    ),
    cards.costs,
  );
  changed();
  return built;
};

function modelChoice(data, choose) {
  const options = data.models.map(({ name }, i) => node("option", { value: i }, name));
  const select = node("select", { id: "model-choice", onchange: () => choose(Number(select.value)) }, options);
  const element = node("label", {}, t("system.choose"), " ", select);
  return { element, move({ model }) { select.value = String(model); } };
}

function rulesList({ rules }) {
  const rule = ({ name, text }) => node("li", {}, node("b", {}, name ?? t("system.decision")), " = ", node("code", {}, text));
  return node("ul", { class: "rules", "aria-label": t("system.rules") }, rules.map(rule));
}
