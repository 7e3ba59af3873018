// Plain questions, plain answers, the figures behind them, and what a careful colleague would point out.

const SIGNS = {
  good: ["✓", () => t("verdict.good")],
  doubt: ["?", () => t("verdict.doubt")],
  bad: ["✕", () => t("verdict.bad")],
  note: ["i", () => t("verdict.note")],
  open: ["–", () => t("verdict.open")],
};

SECTIONS.verdict = ({ answers, cautions }) => node(
  "div", { class: "verdict" },
  node("ol", { class: "answers" }, answers.map(answerCard)),
  cautions.length ? cautionList(cautions) : null,
);

function answerCard({ question, tone, sentences, figures }) {
  const [first, ...more] = sentences.map(sentence);
  const [sign, meaning] = SIGNS[tone];
  return node(
    "li", { class: `card answer tone-${tone}` },
    node("span", { class: "sign", role: "img", "aria-label": meaning() }, sign),
    node(
      "div", {},
      node("h3", {}, sentence(question)),
      node("p", { class: "lead" }, first),
      more.length ? node("p", {}, more.join(" ")) : null,
      figures.length ? node("ul", { class: "chips" }, figures.map(figureChip)) : null,
    ),
  );
}

function figureChip(figure) {
  const write = FORMATS[figure.format ?? "number"];
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
    node("ul", {}, cautions.map((one) => node(
      "li", { class: `tone-${one.tone}` }, one.sentences.map(sentence).join(" "),
    ))),
  );
}
