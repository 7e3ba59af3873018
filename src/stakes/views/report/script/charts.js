// The paper that marks are drawn on: a figure with a title, axes, a legend, a read-out, and buttons to save it.

const NARROW = window.matchMedia("screen and (max-width: 720px)");

// x and y: { name, domain, write?, ticks? }, x also { turned } where names stand aslant; legend: [{ text, look }];
// table: () => ({ head, rows }) for the CSV.
class Chart {
  constructor({ id, title, about, x, y, legend = [], table, width, height, left, bottom = 46 }) {
    this.width = width ?? (NARROW.matches ? 340 : 520);
    this.height = height ?? (NARROW.matches ? 300 : 380);
    const numbers = (y.ticks ?? ticks(y.domain)).map((value) => ({ value, text: (y.write ?? writeTick)(value) }));
    const widest = Math.max(3, ...numbers.map(({ text }) => text.length));
    this.margin = { top: 12, right: 14, bottom, left: left ?? 31 + 7.2 * widest };
    this.id = id;
    this.title = title;
    this.table = table;
    this.x = linear(x.domain, [this.margin.left, this.width - this.margin.right]);
    this.y = linear(y.domain, [this.height - this.margin.bottom, this.margin.top]);
    this.svg = shape("svg", {
      viewBox: `0 0 ${this.width} ${this.height}`, role: "img", tabindex: 0, class: "chart",
      "aria-label": `${title}. ${about}`,
    });
    this.axes(x, y, numbers);
    this.marks = this.svg.appendChild(shape("g", { class: "marks" }));
    this.overlay = this.svg.appendChild(shape("g", { class: "overlay" }));
    this.output = node("p", { class: "readout", "aria-live": "polite" }, "\u00a0");
    this.about = node("p", { class: "about" }, about);
    this.figure = this.framed(legend);
  }

  framed(legend) {
    const keys = legend.map(({ text, look }) => node("li", {}, swatch(look), text));
    const tools = [button("SVG", () => saveSvg(this), { "aria-label": t("chart.save_svg", { name: this.title }) })];
    if (this.table) {
      const name = t("chart.save_csv", { name: this.title });
      tools.push(button("CSV", () => saveCsv(this.id, this.table()), { "aria-label": name }));
    }
    return node(
      "figure", { class: "card figure", id: this.id },
      node("div", { class: "figure-head" }, node("h3", {}, this.title), node("div", { class: "tools small" }, tools)),
      this.about,
      keys.length ? node("ul", { class: "legend" }, keys) : null,
      this.svg, this.output,
    );
  }

  axes(x, y, numbers) {
    const { left, right, top, bottom } = this.margin;
    const axis = this.svg.appendChild(shape("g", { class: "axes" }));
    for (const value of x.ticks ?? ticks(this.x.domain, this.width < 400 ? 4 : 5)) {
      const place = this.x(value);
      axis.append(
        shape("line", { class: "grid", x1: place, x2: place, y1: top, y2: this.height - bottom }),
        (x.turned ? aslant : centred)(place, this.height - bottom + 17, (x.write ?? writeTick)(value)),
      );
    }
    for (const { value, text } of numbers) {
      const place = this.y(value);
      axis.append(
        shape("line", { class: "grid", x1: left, x2: this.width - right, y1: place, y2: place }),
        shape("text", { x: left - 7, y: place + 4, "text-anchor": "end" }, text),
      );
    }
    const middle = (top + this.height - bottom) / 2;
    axis.append(
      centred((left + this.width - right) / 2, this.height - 8, x.name, { class: "axis-name" }),
      centred(14, middle, y.name, { class: "axis-name", transform: `rotate(-90 14 ${middle})` }),
    );
  }

  add(...marks) {
    this.marks.append(...marks);
    return this;
  }
}

function centred(x, y, text, attributes = {}) {
  return shape("text", { x, y, "text-anchor": "middle", ...attributes }, text);
}

function aslant(x, y, text) {
  return shape("text", { x: x + 4, y: y - 6, "text-anchor": "end", transform: `rotate(-40 ${x + 4} ${y - 6})` }, text);
}

// The little sign in front of a legend's text.
function swatch(look) {
  const kind = look.split(" ")[0];
  const inside = {
    line: shape("line", { class: look, x1: 1, x2: 21, y1: 7, y2: 7 }),
    band: shape("rect", { class: look, x: 1, y: 2, width: 20, height: 10 }),
    bar: shape("rect", { class: look, x: 5, y: 1, width: 12, height: 12 }),
    dot: shape("circle", { class: look, cx: 11, cy: 7, r: 4.5 }),
  }[kind];
  return shape("svg", { class: "swatch", width: 22, height: 14, "aria-hidden": "true" }, inside);
}
