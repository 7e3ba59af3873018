// Tables of figures.

// A table that scrolls by itself on a narrow screen; with a name it can be saved as CSV.
function tableOf(head, rows, { caption, id, csv } = {}) {
  const cells = (row) => row.map((one, i) => (i === 0 ? node("th", { scope: "row" }, one) : node("td", {}, one)));
  const table = node(
    "table", {},
    caption ? node("caption", {}, caption) : null,
    node("thead", {}, node("tr", {}, head.map((one) => node("th", { scope: "col" }, one)))),
    node("tbody", {}, rows.map((row) => node("tr", {}, cells(row)))),
  );
  const name = caption ?? head.join(", ");
  const box = node("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table);
  if (!csv) return box;
  const tool = button("CSV", () => saveCsv(id, csv()), { "aria-label": t("chart.save_csv", { name }) });
  return node("div", { class: "with-tools" }, node("div", { class: "tools small" }, tool), box);
}

// A figure of the payload as the number that it is, or a dash with the reason.
function figureCell(figure, write = writeNumber) {
  const made = node("span", { class: "value" });
  const value = figure.value === null ? NaN : Number(figure.value);
  setFigure(made, value, write(value));
  if (figure.reason) made.title = reasonText(figure.reason);
  return made;
}
