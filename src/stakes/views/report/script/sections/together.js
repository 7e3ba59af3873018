// The ROC and PR curves of the best models together.

SECTIONS.together = ({ curves, count }) => {
  const shown = curves.map((curve, i) => ({ curve, look: `line series-${i}`, front: true }));
  const legend = curves.map((curve, i) => ({ text: curve.name, look: `line series-${i}` }));
  const cut = { n: count, shown: curves.length };
  return node(
    "div", {},
    cut.n > cut.shown ? node("p", {}, t("together.cut", cut)) : null,
    node("div", { class: "pair" }, [sweptRoc, sweptPr].map((draw) => draw("together", shown, legend).figure)),
  );
};
