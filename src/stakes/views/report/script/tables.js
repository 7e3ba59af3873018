// Tables of figures.

// A table that scrolls by itself on a narrow screen, below its caption; with a name it can be saved as CSV.
function tableOf(head, rows, { caption, id, csv } = {}) {
  const cells = (row) => row.map((one, i) => (i === 0 ? node("th", { scope: "row" }, one) : node("td", {}, one)));
  const name = caption ?? head.join(", ");
  const table = node(
    "table", { "aria-label": name },
    node("thead", {}, node("tr", {}, head.map((one) => node("th", { scope: "col" }, one)))),
    node("tbody", {}, rows.map((row) => node("tr", {}, cells(row)))),
  );
  const box = node("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table);
  if (!csv && !caption) return box;
  const save = () => button("CSV", () => saveCsv(id, csv()), { "aria-label": t("chart.save_csv", { name }) });
  const tools = csv ? node("div", { class: "tools small" }, save()) : null;
  const title = node("p", { class: "caption" }, caption ?? "");
  return node("div", {}, node("div", { class: "table-head" }, title, tools), box);
}

// A figure of the payload as the number that it is, or a dash with the reason.
function figureCell(figure, write = writeNumber) {
  const made = node("span", { class: "value" });
  const value = figure.value === null ? NaN : Number(figure.value);
  setFigure(made, value, write(value));
  if (figure.reason) made.title = reasonText(figure.reason);
  return made;
}
