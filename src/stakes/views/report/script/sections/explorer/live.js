// Two answers of the verdict follow what the reader sets: is the model useful at these costs, and does it earn its keep
// at this threshold? Both by the rules that Python has; all other answers are as computed. Until something is set, they
// are, too, where Python has answered them.

const LIVE_PAUSE = 120; // milliseconds without a change before anything is redrawn

function liveAnswers(model, first) {
  const line = node("p", { class: "live-line", id: "live-line" });
  const start = settingKey(first);
  let [usefulFor, timer] = [start, null];
  const tell = (current) => {
    const known = current.touched || model.data.costs.given;
    const atStart = placeKey(current) === placeKey(first);
    const keeps = (atStart && LIVE.computed.keeps)
      || (known ? keepsAnswer(model, current, atStart && model.data.costs.savings) : openAnswer());
    fillCard(LIVE.keeps, keeps);
    const [sign, meaning] = SIGNS[keeps.tone];
    line.className = `live-line tone-${keeps.tone}`;
    line.replaceChildren(
      node("span", { class: "sign", role: "img", "aria-label": meaning() }, sign), sentence(keeps.sentences[0]),
    );
    const key = settingKey(current);
    if (key !== usefulFor && LIVE.threshold) {
      fillCard(LIVE.threshold, key === start ? LIVE.computed.threshold : usefulAnswer(model, current));
    }
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

function placeKey(current) {
  return settingKey(current) + current.stop;
}

function openAnswer() {
  return { tone: "open", question: said("live.keeps"), sentences: [said("live.no_costs")], figures: [] };
}

function said(key, values = {}) {
  return { key, values };
}

// computed: the savings and limits that Python has found for just this.
function keepsAnswer(model, current, computed) {
  const { positive, negative, confidence } = model.data;
  const savings = computed || savingsOf(model, calledAt(model, current.stop), current, current.stop > 0);
  const tone = earnsItsKeep(savings);
  const values = { positive, threshold: model.writeStop(current.stop) };
  const keys = { good: "live.keeps_yes", doubt: "live.keeps_unsure", bad: "live.keeps_no" };
  const rival = leastSure(savings);
  const decision = rival.name === "everyone" ? positive : negative;
  const saved = rival.value < 0 ? said("live.loses", {
    decision, confidence,
    loss: perThousand(model, rival.value, -1),
    low: perThousand(model, rival.high, -1),
    high: perThousand(model, rival.low, -1),
  }) : said("live.saves", {
    decision, confidence,
    saving: perThousand(model, rival.value), low: perThousand(model, rival.low), high: perThousand(model, rival.high),
  });
  return {
    tone, question: said("live.keeps"), figures: [],
    sentences: [said(keys[tone], values), saved, givenCosts(model, current)],
  };
}

// A cost with its unit, if there is one; the sign of an amount stands before its unit.
function money(model, amount) {
  const { unit } = model.data.costs;
  return unit && amount !== null ? said(amountKey(unit, amount), { amount: amountOf(unit, amount), unit }) : amount;
}

function perThousand(model, value, sign = 1) {
  return money(model, value === null ? null : sign * 1000 * value);
}

function givenCosts(model, { costs: [[rest, alarm], [miss, found]], prevalence }) {
  return said("live.at", { miss: money(model, miss - found), alarm: money(model, alarm - rest), share: prevalence });
}

function usefulAnswer(model, current) {
  const question = said("live.useful");
  const { positive, negative } = model.data;
  const [[rest, alarm], [miss, found]] = current.costs;
  const at = givenCosts(model, current);
  const price = (stop) => model.cost(stop, current.costs, current.prevalence);
  if (!(miss > found && alarm > rest)) {
    const decision = price(model.last) < price(0) ? positive : negative;
    return { tone: "bad", question, sentences: [said("live.useful_one", { decision }), at], figures: [] };
  }
  const { tone, threshold, cost, savings } = usefulAt(model, current);
  const always = said("live.always", {
    positive, negative, everyone: perThousand(model, price(model.last)), nobody: perThousand(model, price(0)),
  });
  const decision = price(model.last) < price(0) ? positive : negative;
  if (Object.values(savings).some(({ value }) => value <= 0)) {
    const no = said(earnsItsKeep(savings) === "bad" ? "live.useful_no" : "live.useful_no_better", { decision });
    return { tone, question, sentences: [no, always, at], figures: [] };
  }
  const key = tone === "good" ? "live.useful_yes" : "live.useful_unsure";
  const lead = said(key, { positive, threshold: model.writeBeside(threshold), cost: perThousand(model, cost) });
  return { tone, question, sentences: [lead, always, at], figures: [] };
}
