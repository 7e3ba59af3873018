// One dot with its interval for each segment, and a line where all rows together stand.

SECTIONS.segments = ({ metrics, segments, whole, count }) => {
  const words = {
    choose: t("segments.figure"), entry: t("segments.segment"), dot: t("segments.dot"), rule: t("segments.whole"),
  };
  const choices = metrics.map((name, i) => (
    { name: metricName(name), about: metricQuestion(name), rule: whole[i].value }
  ));
  const shown = { n: count, shown: segments.length };
  return node(
    "div", {},
    shown.n > shown.shown ? node("p", {}, t("segments.cut", shown)) : null,
    chosenList({ id: "segments", choices, start: Math.max(metrics.indexOf("auc"), 0), entries: segments, words }),
  );
};
