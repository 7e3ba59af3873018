// The threshold explorer: one threshold moves everything.

SECTIONS.explorer = (data) => {
  const model = new Model(data);
  const [low, high] = twoDecisions(data);
  const prevalence = data.deployed ?? model.rowsPrevalence;
  const costs = data.costs.matrix.map((row) => [...row]);
  const cheapest = () => model.best(data.costs.matrix.map((row) => [row[low], row[high]]), prevalence);
  const stop = data.threshold === null ? cheapest() : model.stopFor(data.threshold);
  const state = remember("explorer", { stop, prevalence, costs, touched: false });
  const listeners = [];
  const pair = (matrix) => matrix.map((row) => [row[low], row[high]]);
  const changed = () => {
    const current = {
      ...state,
      matrix: state.costs,
      costs: pair(state.costs),
      cells: model.cells(state.stop, state.prevalence),
      apart: data.fixed || state.prevalence !== model.rowsPrevalence || state.prevalence === data.deployed,
    };
    for (const listener of listeners) listener.move(current);
  };
  const goTo = (place) => {
    state.stop = place;
    changed();
  };
  const follow = (listener) => {
    listeners.push(listener);
    return listener;
  };
  const built = explorerLayout({
    threshold: follow(thresholdControl(model, state, changed)).element,
    roc: follow(rocChart(model)).chart.figure,
    pr: follow(prChart(model)).chart.figure,
    histogram: follow(histogramChart(model)).chart.figure,
    confusion: follow(confusionReading(model)).element,
    rates: follow(rateReadings()).element,
    costs: data.costs.by_row ? null : costControl(model, state, changed),
    prevalence: follow(prevalenceControl(model, state, changed)).element,
    price: data.costs.by_row ? null : follow(priceReading(model)).element,
    readings: data.costs.by_row
      ? node("p", { class: "note", id: "costs-by-row" }, t("explorer.costs_by_row"))
      : follow(costReadings(model, goTo)).element,
    policy: data.costs.decisions.length > 2 ? follow(policyReading(model)).element : null,
    play: playControl(model, state, changed),
    live: LIVE.keeps ? follow(liveAnswers(model, { costs: pair(data.costs.matrix), prevalence, stop })).element : null,
  });
  changed();
  return built;
};

// Which columns of the cost table the slider decides between: the two classes, or the decisions at both ends.
function twoDecisions({ costs: { decisions, matrix }, negative, positive }) {
  const places = [decisions.indexOf(negative), decisions.indexOf(positive)];
  if (!places.includes(-1)) return places;
  const order = decisions.map((_, d) => d).sort((a, b) => matrix[0][a] - matrix[1][a] - (matrix[0][b] - matrix[1][b]));
  return [order[0], order[order.length - 1]];
}

function explorerLayout(parts) {
  return node(
    "div", { class: "explorer" },
    node("p", { class: "intro" }, t("explorer.intro")),
    node("div", { class: "card sticky" }, parts.threshold, parts.live),
    parts.histogram,
    node("div", { class: "pair" }, parts.roc, parts.pr),
    parts.play,
    node(
      "div", { class: "pair" },
      node("div", { class: "stack" }, parts.confusion, parts.price),
      node(
        "div", { class: "card money" },
        node("h3", {}, t("explorer.money")),
        node("div", { class: "fields" }, parts.costs, parts.prevalence),
        parts.readings,
        parts.policy,
      ),
    ),
    parts.rates,
  );
}
