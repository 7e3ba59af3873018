// The network: circles for what is uncertain, double circles for what follows from it, a square for the cost.

function networkChart(data, choose) {
  const direct = data.arrows.slice(0, -1); // the last one, from the truth to the cost, runs below everything else
  const found = networkPlaces(data.nodes.length, direct);
  const look = networkLook(found);
  const place = ({ layer, across }) => ({
    x: look.side + layer * look.step,
    y: look.top + (across - found.low) * look.row,
  });
  const places = data.nodes.map((_, i) => place(found.items[i]));
  const chart = new Chart({
    id: "network", title: t("system.network"), about: t("system.network_about"), width: look.width, height: look.height,
    x: { name: "", domain: [0, 1], ticks: [] }, y: { name: "", domain: [0, 1], ticks: [] },
    table: () => ({
      head: [t("system.from"), t("system.to")],
      rows: data.arrows.map((arrow) => arrow.map((i) => nodeName(data.nodes[i]))),
    }),
  });
  const lines = found.ways.map((way) => arrowThrough(way.map(place), look));
  lines.push(arrowBelow(places[0], places[places.length - 1], look));
  const nodes = data.nodes.map((one, i) => networkNode(one, i, places[i], look, choose));
  chart.add(...lines, ...nodes);
  asGroup(chart, look.least);
  return { chart, move({ model }) {
    nodes.forEach((one, i) => {
      if (data.nodes[i].kind === "model") one.setAttribute("aria-pressed", i === model + 1);
    });
    lines.forEach((one, i) => one.classList.toggle("chosen", data.arrows[i].includes(model + 1)));
  } };
}

// The nodes are what can be reached; the drawing around them is a group, which scrolls where it is too wide.
function asGroup(chart, least) {
  chart.svg.setAttribute("role", "group");
  chart.svg.removeAttribute("tabindex");
  chart.svg.classList.add("network");
  chart.svg.style.minWidth = `${least}px`;
  const box = node("div", { class: "scroll" });
  chart.svg.replaceWith(box);
  box.append(chart.svg);
}

// Room for everything: on a phone circles are small and names stand below them.
function networkLook({ layers, low, high }) {
  const narrow = NARROW.matches;
  const least = narrow ? 58 * layers : 0;
  const width = Math.max(narrow ? 330 : 1000, least);
  const radius = narrow ? 15 : 35;
  const side = narrow ? 30 : 64;
  const row = narrow ? 56 : high - low > 5 ? 86 : 104;
  const top = radius + 14;
  const bottom = top + (high - low) * row + radius + 32;
  const step = (width - 2 * side) / (layers - 1);
  return { narrow, least, width, radius, side, row, top, bottom, step, height: bottom + 8 };
}

function nodeName({ kind, name }) {
  return { truth: t("system.truth"), decision: t("system.decision"), cost: t("system.cost") }[kind] ?? name;
}

function networkNode(one, i, { x, y }, look, choose) {
  const name = nodeName(one);
  const twice = one.kind === "fuser" || one.kind === "decision";
  const { radius } = look;
  const outline = one.kind === "cost"
    ? shape("rect", { class: "rim", x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius, rx: 4 })
    : shape("circle", { class: "rim", cx: x, cy: y, r: radius });
  const inner = twice ? shape("circle", { class: "rim inner", cx: x, cy: y, r: radius - 4 }) : null;
  const words = nodeWords(name, x, y, look);
  if (one.kind !== "model") {
    return shape("g", { class: `node ${one.kind}`, role: "img", "aria-label": name }, outline, inner, words);
  }
  const halo = shape("circle", { class: "halo", cx: x, cy: y, r: radius + 6 });
  const press = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(i - 1);
  };
  return shape(
    "g",
    { class: "node model", role: "button", tabindex: 0, "aria-label": name, onclick: press, onkeydown: press },
    shape("title", {}, name), halo, outline, words,
  );
}

// A short name fits into the circle; there is room for a longer one below it.
function nodeWords(name, x, y, look) {
  if (!look.narrow && name.length <= 8) return centred(x, y + 4, name, { class: "name" });
  const room = Math.floor(Math.min(look.step, 2 * look.side + 60) / (look.narrow ? 6.4 : 7.4));
  const short = name.length > room ? `${name.slice(0, Math.max(room - 1, 3))}…` : name;
  return centred(x, y + look.radius + (look.narrow ? 13 : 16), short, { class: "name below" });
}

// A smooth line that leaves and enters nodes level, and passes between them without a kink.
function arrowThrough(way, { radius }) {
  const last = way.length - 1;
  const points = way.map(({ x, y }, i) => ({ x: i === 0 ? x + radius : i === last ? x - radius - 3 : x, y }));
  const slope = (i) => (i === 0 || i === last ? 0 : (way[i + 1].y - way[i - 1].y) / (way[i + 1].x - way[i - 1].x));
  const curves = points.slice(1).map((to, i) => {
    const from = points[i];
    const [leave, enter] = [i === 0 ? 0.5 : 0.35, i + 1 === last ? 0.5 : 0.35].map((part) => part * (to.x - from.x));
    const start = `${from.x + leave} ${from.y + leave * slope(i)}`;
    return `C${start} ${to.x - enter} ${to.y - enter * slope(i + 1)} ${to.x} ${to.y}`;
  });
  return arrowOf(`M${points[0].x} ${points[0].y}${curves.join("")}`, points[last], 0);
}

// What a decision costs depends on the truth too: that arrow runs below everything else.
function arrowBelow(from, to, { bottom, radius, narrow }) {
  const turn = 14;
  const names = narrow ? 17 : 0;
  const end = { x: to.x, y: to.y + radius + 3 + names };
  const way = `M${from.x} ${from.y + radius + names}V${bottom - turn}Q${from.x} ${bottom} ${from.x + turn} ${bottom}`
    + `H${to.x - turn}Q${to.x} ${bottom} ${to.x} ${bottom - turn}V${end.y}`;
  return arrowOf(way, end, -Math.PI / 2);
}

function arrowOf(way, { x, y }, angle) {
  const corner = (turn) => `${x - 9 * Math.cos(angle + turn)} ${y - 9 * Math.sin(angle + turn)}`;
  return shape(
    "g", { class: "arrow" },
    shape("path", { class: "shaft", d: way }),
    shape("path", { class: "tip", d: `M${x} ${y}L${corner(0.4)}L${corner(-0.4)}Z` }),
  );
}
