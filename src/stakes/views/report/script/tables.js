// Tables of figures.

// A table below its caption; with a name it can be saved as CSV. On a narrow screen each row becomes a card, in which
// figures stand beside what they are; the roles say that it is a table all the same.
function tableOf(head, rows, { caption, id, csv } = {}) {
  const cell = (one, i) => (i === 0
    ? node("th", { scope: "row", role: "rowheader" }, one)
    : node("td", { role: "cell", "data-label": head[i] }, one));
  const name = caption ?? head.join(", ");
  const table = node(
    "table", { "aria-label": name, role: "table", class: head.length > 2 ? "rows" : null },
    node("thead", { role: "rowgroup" }, node(
      "tr", { role: "row" }, head.map((one) => node("th", { scope: "col", role: "columnheader" }, one)),
    )),
    node("tbody", { role: "rowgroup" }, rows.map((row) => node("tr", { role: "row" }, row.map(cell)))),
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
