// What can be read off at the current stop: the confusion table, every rate, what it costs.

function confusionReading({ data: { positive, negative }, rowsPrevalence }) {
  const counts = {};
  const cell = (kind) => {
    counts[kind] = node("span", { class: "count", id: `cell-${kind}` });
    return confusionCell(kind, counts[kind]);
  };
  const caption = node("p", { class: "caption" });
  const row = (name, ...two) => node("tr", {}, node("th", { scope: "row" }, name), two);
  const table = confusionTable(
    [t("confusion.corner"), negative, positive],
    [row(negative, cell("tn"), cell("fp")), row(positive, cell("fn"), cell("tp"))],
    t("explorer.confusion"),
  );
  const element = node("div", { class: "card" }, node("h3", {}, t("explorer.confusion")), caption, table);
  return { element, move({ cells, prevalence }) {
    const asCounted = prevalence === rowsPrevalence;
    setText(caption, asCounted ? t("confusion.caption") : t("explorer.reweighted", { share: prevalence }));
    for (const [kind, element] of Object.entries(counts)) setFigure(element, cells[kind], writeCount(cells[kind]));
  } };
}

function rateReadings() {
  const rows = {};
  const row = (name) => {
    const value = node("span", { class: "value", id: `rate-${name}` });
    const words = node("span", { class: "words" });
    rows[name] = { value, words };
    return [metricName(name), value, words];
  };
  const head = [t("figures.name"), t("figures.value"), t("figures.question")];
  const table = (names, caption) => tableOf(head, names.map(row), { caption });
  const rest = Object.keys(RATES).filter((name) => !MAIN_RATES.includes(name));
  const more = node("summary", {}, t("figures.more", { n: rest.length }));
  const element = node(
    "div", { class: "card rates" },
    node("h3", {}, t("explorer.rates")),
    table(MAIN_RATES, t("explorer.main_rates")),
    node("details", {}, more, table(rest, t("figures.others"))),
  );
  return { element, move({ cells }) {
    for (const [name, { value, words }] of Object.entries(rows)) {
      const rate = rateOf(name, cells);
      setFigure(value, rate.value, writeNumber(rate.value));
      setText(words, rate.reason ? t("figures.undefined", { reason: { reason: rate.reason } }) : metricQuestion(name));
    }
  } };
}

function costReadings(model, goTo) {
  const list = node("dl", { class: "readings" });
  const entry = (id, name, ...more) => {
    const value = node("span", { class: "value", id: `reading-${id}` });
    list.append(node("div", {}, node("dt", {}, name), node("dd", {}, value, " ", more)));
    return value;
  };
  const go = (id, to) => button(t("explorer.go"), () => goTo(to()), { id });
  let now = {};
  const here = entry("cost-here", t("explorer.cost_here"));
  const toBest = go("go-best", () => model.best(now.costs, now.prevalence));
  const best = entry("best-threshold", t("explorer.best_threshold"), toBest);
  const least = entry("cost-best", t("explorer.cost_best"));
  const toBayes = go("go-bayes", () => model.stopFor(model.bayes(now.costs, now.prevalence)));
  const bayes = entry("bayes-threshold", t("explorer.bayes_threshold"), toBayes);
  const all = entry("cost-everyone", t("explorer.cost_everyone"));
  const none = entry("cost-nobody", t("explorer.cost_nobody"));
  const benefit = entry("net-benefit", t("explorer.net_benefit"));
  const perThousand = (element, stop) => {
    const value = 1000 * model.cost(stop, now.costs, now.prevalence);
    setFigure(element, value, told(money(model, value), "cost"));
  };
  return { element: list, move(current) {
    now = current;
    const cheapest = model.best(now.costs, now.prevalence);
    const bayesian = model.bayes(now.costs, now.prevalence);
    setFigure(best, model.thresholds[cheapest], model.writeStop(cheapest));
    setFigure(bayes, bayesian, writeNumber(bayesian));
    toBayes.toggleAttribute("disabled", Number.isNaN(bayesian));
    const worth = model.netBenefit(now.stop, now.costs, now.prevalence);
    setFigure(benefit, worth, writeNumber(worth));
    perThousand(here, now.stop);
    perThousand(least, cheapest);
    perThousand(all, model.last);
    perThousand(none, 0);
  } };
}

// With more decisions than two: which one to take from which score on.
function policyReading(model) {
  const list = node("ul", { id: "policy" });
  const total = node("strong", { class: "value", id: "policy-cost" });
  const element = node(
    "div", {},
    node("h4", {}, t("explorer.policy")),
    list,
    node("p", {}, t("explorer.policy_cost"), " ", total),
  );
  const words = ({ decision: place, stop }) => {
    const decision = model.data.costs.decisions[place];
    if (stop === null) return t("explorer.policy_first", { decision });
    return t("explorer.policy_from", { decision, threshold: model.thresholds[stop] });
  };
  return { element, move({ matrix, prevalence }) {
    const { cost, steps } = cheapestPolicy(model, matrix, prevalence);
    list.replaceChildren(...steps.map((step) => node("li", {}, words(step))));
    setFigure(total, 1000 * cost, writeCost(1000 * cost));
  } };
}
