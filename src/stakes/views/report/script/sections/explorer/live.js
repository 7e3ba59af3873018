// Two answers of the verdict follow what the reader sets: is the model useful at these costs, and does it earn its keep
// at this threshold? Both by the rules that Python has; all other answers are as computed.

const LIVE_PAUSE = 120; // milliseconds without a change before anything is drawn anew

function liveAnswers(model, first) {
  const line = node("p", { class: "live-line", id: "live-line" });
  const start = settingKey(first);
  let [usefulFor, timer] = [start, null];
  const tell = (current) => {
    const known = current.touched || model.data.costs.given;
    const keeps = known ? keepsAnswer(model, current) : openAnswer();
    fillCard(LIVE.keeps, keeps);
    const [sign, meaning] = SIGNS[keeps.tone];
    line.className = `live-line tone-${keeps.tone}`;
    line.replaceChildren(
      node("span", { class: "sign", role: "img", "aria-label": meaning() }, sign), sentence(keeps.sentences[0]),
    );
    const key = settingKey(current);
    if (key !== usefulFor) fillCard(LIVE.threshold, key === start ? LIVE.computed : usefulAnswer(model, current));
    usefulFor = key;
  };
  return { element: line, move(current) {
    clearTimeout(timer);
    if (timer === null) tell(current); // when the page is drawn
    timer = setTimeout(tell, LIVE_PAUSE, current);
  } };
}

// What the answer about costs depends on.
function settingKey({ costs, prevalence }) {
  return JSON.stringify([costs, prevalence]);
}

function openAnswer() {
  return { tone: "open", question: said("live.keeps"), sentences: [said("live.no_costs")], figures: [] };
}

function said(key, values = {}) {
  return { key, values };
}

function keepsAnswer(model, current) {
  const { positive, negative, confidence } = model.data;
  const savings = savingsOf(model, calledAt(model, current.stop), current, current.stop > 0);
  const tone = earnsItsKeep(savings);
  const values = { positive, threshold: model.writeStop(current.stop) };
  const keys = { good: "live.keeps_yes", doubt: "live.keeps_unsure", bad: "live.keeps_no" };
  const rival = leastSure(savings);
  const saved = {
    decision: rival.name === "everyone" ? positive : negative, confidence,
    saving: 1000 * rival.value, low: perThousand(rival.low), high: perThousand(rival.high),
  };
  return {
    tone, question: said("live.keeps"), figures: [],
    sentences: [said(keys[tone], values), said("live.saves", saved), givenCosts(current)],
  };
}

function perThousand(value) {
  return value === null ? null : 1000 * value;
}

function givenCosts({ costs: [[rest, alarm], [miss, found]], prevalence }) {
  return said("live.at", { miss: miss - found, alarm: alarm - rest, share: prevalence });
}

function usefulAnswer(model, current) {
  const question = said("live.useful");
  const { positive, negative } = model.data;
  const [[rest, alarm], [miss, found]] = current.costs;
  const at = givenCosts(current);
  const price = (stop) => model.cost(stop, current.costs, current.prevalence);
  if (!(miss > found && alarm > rest)) {
    const decision = price(model.last) < price(0) ? positive : negative;
    return { tone: "bad", question, sentences: [said("live.useful_one", { decision }), at], figures: [] };
  }
  const { tone, threshold, cost } = usefulAt(model, current);
  const always = said("live.always", {
    positive, negative, everyone: 1000 * price(model.last), nobody: 1000 * price(0),
  });
  const decision = price(model.last) < price(0) ? positive : negative;
  if (tone === "bad") return { tone, question, sentences: [said("live.useful_no", { decision }), always, at], figures: [] };
  const key = tone === "good" ? "live.useful_yes" : "live.useful_unsure";
  const lead = said(key, { positive, threshold: model.writeBeside(threshold), cost: 1000 * cost });
  return { tone, question, sentences: [lead, always, at], figures: [] };
}
