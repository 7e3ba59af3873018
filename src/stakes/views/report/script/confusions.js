// Tables of two classes: mistakes are loud, and every cell says in words what it counts.

function kindOfCell(right, positive) {
  if (right) return positive ? "tp" : "tn";
  return positive ? "fn" : "fp";
}

function confusionCell(kind, count, attributes = {}) {
  const words = {
    tp: t("confusion.found"), fn: t("confusion.miss"), fp: t("confusion.false_alarm"), tn: t("confusion.passed"),
  };
  const loud = kind === "fn" || kind === "fp" ? "loud" : "calm";
  return node("td", { class: `cell ${loud}`, ...attributes }, count, node("span", { class: "means" }, words[kind]));
}

function confusionTable(head, rows, name = t("confusion.title")) {
  const table = node(
    "table", { class: "confusion" },
    node("thead", {}, node("tr", {}, head.map((one) => node("th", { scope: "col" }, one)))),
    node("tbody", {}, rows),
  );
  return node("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table);
}
