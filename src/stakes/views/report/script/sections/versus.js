// The ROC and PR curves of a chosen class against the rest, with those of the other classes pale behind it.

const MOST_BEHIND = 12;

SECTIONS.versus = ({ curves }) => {
  const state = remember("versus", { place: 0 });
  const place = node("div", {});
  const show = () => place.replaceChildren(...versusCharts(curves, state.place));
  const choose = (event) => {
    state.place = Number(event.target.value);
    show();
  };
  const option = ({ name }, i) => node("option", { value: i, selected: i === state.place }, name);
  const choice = node("select", { id: "versus-class", onchange: choose }, curves.map(option));
  show();
  return node(
    "div", {},
    node("p", { class: "intro" }, t("versus.intro")),
    node("p", {}, node("label", {}, t("versus.choose"), " ", choice)),
    place,
  );
};

function versusCharts(curves, chosen) {
  const others = curves.filter((_, i) => i !== chosen);
  const behind = (others.length < MOST_BEHIND ? others : []).map((curve) => ({ curve, look: "line behind" }));
  const shown = [...behind, { curve: curves[chosen], look: "line", front: true }];
  const legend = [
    { text: curves[chosen].name, look: "line" },
    ...(behind.length ? [{ text: t("versus.others"), look: "line behind" }] : []),
  ];
  const chips = curves[chosen].figures.map((figure) => node(
    "li", { title: metricQuestion(figure.name) },
    metricName(figure.name), " ", figureCell(figure), " ",
    node("span", { class: "limits" }, writeInterval(figure.low, figure.high)),
  ));
  return [
    node("ul", { class: "chips", id: "versus-figures" }, chips),
    node("div", { class: "pair" }, sweptRoc("versus", shown, legend).figure, sweptPr("versus", shown, legend).figure),
  ];
}
