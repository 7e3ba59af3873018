// Plain questions, plain answers, the figures behind them, and what a careful colleague would point out.

const SIGNS = {
  good: ["✓", () => t("verdict.good")],
  doubt: ["?", () => t("verdict.doubt")],
  bad: ["✕", () => t("verdict.bad")],
  note: ["i", () => t("verdict.note")],
  open: ["–", () => t("verdict.open")],
};

// The answers that follow what the reader sets on the page, where it can be set: their cards, filled by the explorer.
const LIVE = {};

SECTIONS.verdict = ({ answers, cautions }) => {
  const live = followed();
  Object.assign(LIVE, { keeps: null, threshold: null, computed: {} }); // a page is redrawn in another language
  const cards = answers.map((answer) => answerCard(answer, live));
  const more = live && !LIVE.keeps ? (LIVE.keeps = node("li", { id: "answer-keeps" })) : null;
  const wrong = cautions.filter(({ tone }) => tone === "wrong");
  const others = cautions.filter(({ tone }) => tone !== "wrong");
  return node(
    "div", { class: wrong.length ? "verdict void" : "verdict" },
    wrong.length ? node("ul", { class: "answers wrongs" }, wrong.map(wrongCard)) : null,
    node("ol", { class: "answers" }, cards, more),
    others.length ? cautionList(others) : null,
  );
};

// Whether the page can evaluate another threshold: between two decisions, by rows of equal costs, resampled one by one.
function followed() {
  const explorer = PAYLOAD.sections.find(({ kind }) => kind === "explorer");
  if (explorer === undefined || explorer.costs.by_row) return false;
  return explorer.costs.decisions.length === 2 && !explorer.clusters;
}

// The answers of Python that follow: with the costs alone, or with the threshold, too.
const FOLLOWING = { "verdict.threshold": "threshold", "decided.evidence": "keeps" };

function answerCard(answer, live) {
  const card = node("li", {});
  const name = live ? FOLLOWING[answer.question.key] : undefined;
  if (name) [LIVE[name], LIVE.computed[name], card.id] = [card, answer, `answer-${name}`];
  return fillCard(card, answer, live && !name);
}

function fillCard(card, { question, tone, sentences, figures }, computed = false) {
  const [first, ...more] = sentences.map(sentence);
  const [sign, meaning] = SIGNS[tone];
  card.dataset.question = question.key;
  card.className = `card answer tone-${tone}`;
  card.dataset.tone = tone;
  card.replaceChildren(
    node("span", { class: "sign", role: "img", "aria-label": meaning() }, sign),
    node(
      "div", {},
      node("h3", {}, sentence(question), computed ? node("span", { class: "computed" }, t("live.computed")) : ""),
      node("p", { class: "lead" }, first),
      ...(more.length ? [node("p", {}, more.join(" "))] : []),
      ...(figures.length ? [node("ul", { class: "chips" }, figures.map(figureChip))] : []),
    ),
  );
  return card;
}

// What makes every figure meaningless stands on top, and is loud.
function wrongCard({ sentences }) {
  return node(
    "li", { class: "card answer wrong tone-bad" },
    node("span", { class: "sign", role: "img", "aria-label": t("live.wrong") }, "!"),
    node("p", { class: "lead" }, sentences.map(sentence).join(" ")),
  );
}

const AMOUNTS = { sign: "amount.sign", below: "amount.below_0", word: "amount.word" };

const isSign = (unit) => /^\p{Sc}$/u.test(unit);

function amountKey(unit, value) {
  return AMOUNTS[!isSign(unit) ? "word" : value < 0 ? "below" : "sign"];
}

// What stands beside a unit: without its sign where that stands before the unit.
function amountOf(unit, value) {
  return isSign(unit) && value < 0 ? -value : value;
}

function figureChip(figure) {
  const plain = FORMATS[figure.format ?? "number"];
  const write = figure.unit ? (value) => t(amountKey(figure.unit, value), {
    amount: amountOf(figure.unit, value),
    unit: figure.unit,
  }) : plain;
  const ends = () => writeInterval(figure.low, figure.high, write);
  const limits = figure.low === null ? null : node("span", { class: "limits" }, ends());
  return node(
    "li", { title: metricQuestion(figure.name) },
    node("span", {}, figure.label ? sentence(figure.label) : metricName(figure.name)),
    " ",
    figureCell(figure, write),
    " ",
    limits,
  );
}

function cautionList(cautions) {
  return node(
    "aside", { class: "card cautions", "aria-label": t("verdict.cautions") },
    node("h3", {}, t("verdict.cautions")),
    node("ul", {}, cautions.map((one) => node("li", {}, one.sentences.map(sentence).join(" ")))),
  );
}
