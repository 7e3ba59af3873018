// One dot with its interval for each segment, the worst first, a line where all rows together stand, and a verdict on
// each segment beside the rest.

SECTIONS.segments = ({ metrics, segments, whole, count }) => {
  const words = {
    choose: t("segments.figure"), entry: t("segments.segment"), dot: t("segments.dot"), rule: t("segments.whole"),
    counted: true,
  };
  const choices = metrics.map((name, i) => (
    { name: metricName(name), about: metricQuestion(name), rule: whole[i].value }
  ));
  const shown = { n: count, shown: segments.length };
  return node(
    "div", {},
    shown.n > shown.shown ? node("p", {}, t("segments.cut", shown)) : null,
    chosenList({
      id: "segments", choices, start: Math.max(metrics.indexOf("auc"), 0), entries: segments, words,
      below: (which, ordered) => [segmentTable(metricName(metrics[which]), which, ordered)],
    }),
  );
};

function segmentTable(name, which, segments) {
  const head = [
    t("segments.segment"), t("segments.verdict"), t("segments.rows"), name, t("calibration.limits"),
    t("segments.difference"),
  ];
  const rows = segments.map(({ name: segment, rows: n, figures }) => {
    const { low, high, difference, verdict, tone } = figures[which];
    return [
      segment,
      verdict ? node("span", { class: `judged tone-${tone}` }, sentence(verdict)) : "–",
      figureCell({ value: n }, writeCount),
      figureCell(figures[which]),
      node("span", { class: "limits" }, writeInterval(low, high)),
      figureCell({ value: difference ?? null }),
    ];
  });
  const csv = () => ({
    head: [...head.slice(0, 4), t("figures.low"), t("figures.high"), head[5]],
    rows: segments.map(({ name: segment, rows: n, figures }) => {
      const { value, low, high, difference, verdict } = figures[which];
      return [segment, verdict ? sentence(verdict) : "", n, value, low, high, difference];
    }),
  });
  const table = tableOf(head, rows, { caption: t("segments.order"), id: "segments-table", csv });
  return node("div", { class: "card" }, table);
}
