// Charts to save as SVG, data to save as CSV.

const PAINT = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap",
  "opacity", "paint-order", "font-family", "font-size", "font-weight",
];

// The style sheet stays behind, so every element takes along how it looks.
function saveSvg(chart) {
  const copy = chart.svg.cloneNode(true);
  const originals = [chart.svg, ...chart.svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of PAINT) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  const ground = getComputedStyle(chart.figure).backgroundColor;
  copy.prepend(shape("title", {}, chart.title), shape("rect", { width: "100%", height: "100%", fill: ground }));
  copy.setAttribute("width", chart.width);
  copy.setAttribute("height", chart.height);
  save(`${chart.id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
}

function saveCsv(name, { head, rows }) {
  save(`${name}.csv`, "text/csv", [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n");
}

// A text that a spreadsheet would take for a formula gets an apostrophe in front.
function cell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = node("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
