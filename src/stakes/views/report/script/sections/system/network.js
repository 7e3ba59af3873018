// The network: circles for what is uncertain, double circles for what follows from what comes in, a square for the cost.

function networkChart(data, choose) {
  const found = networkPlaces(data.nodes.length, data.arrows);
  const look = networkLook(found);
  const places = found.at.map(({ layer, across }) => ({
    x: look.side + layer * look.step,
    y: look.top + (across + (found.tallest - 1) / 2) * look.row,
  }));
  const chart = new Chart({
    id: "network", title: t("system.network"), about: t("system.network_about"), width: look.width, height: look.height,
    x: { name: "", domain: [0, 1], ticks: [] }, y: { name: "", domain: [0, 1], ticks: [] },
    table: () => ({
      head: [t("system.from"), t("system.to")],
      rows: data.arrows.map((arrow) => arrow.map((i) => nodeName(data.nodes[i]))),
    }),
  });
  // The nodes are what can be reached; the drawing around them is a group.
  chart.svg.setAttribute("role", "group");
  chart.svg.removeAttribute("tabindex");
  chart.svg.classList.add("network");
  const lines = data.arrows.map((arrow) => networkArrow(data, arrow, places, look));
  const nodes = data.nodes.map((one, i) => networkNode(data, one, i, places[i], look, choose));
  chart.add(...lines, ...nodes);
  chart.svg.style.minWidth = `${look.least}px`;
  const box = node("div", { class: "scroll" });
  chart.svg.replaceWith(box);
  box.append(chart.svg);
  return { chart, move({ model }) {
    nodes.forEach((one, i) => { if (data.nodes[i].kind === "model") one.setAttribute("aria-pressed", i === model + 1); });
    lines.forEach((one, i) => one.classList.toggle("chosen", data.arrows[i].includes(model + 1)));
  } };
}

// Room for everything: on a phone circles are small and names stand below them.
function networkLook({ layers, tallest }) {
  const narrow = NARROW.matches;
  const least = narrow ? 58 * layers : 0;
  const width = Math.max(narrow ? 330 : 1000, least);
  const radius = narrow ? 15 : 32;
  const side = narrow ? 30 : 64;
  const row = narrow ? 56 : tallest > 6 ? 76 : 92;
  const top = radius + 14;
  return {
    narrow, least, width, radius, side, row, top,
    step: (width - 2 * side) / Math.max(layers - 1, 1),
    bottom: top + (tallest - 1) * row + radius + 32,
    height: top + (tallest - 1) * row + radius + 40,
  };
}

function nodeName({ kind, name }) {
  return { truth: t("system.truth"), decision: t("system.decision"), cost: t("system.cost") }[kind] ?? name;
}

function networkNode(data, one, i, { x, y }, look, choose) {
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

function networkArrow({ nodes }, [one, other], places, look) {
  const [from, to] = [places[one], places[other]];
  if (one === 0 && other === nodes.length - 1) return arrowBelow(from, to, look);
  const others = places.filter((_, i) => i !== one && i !== other);
  const middle = bentMiddle(from, to, others, 1.5 * look.radius);
  const start = rim(from, middle, look.radius);
  const end = rim(to, middle, look.radius + 3);
  const way = `M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}`;
  return arrowOf(way, end, Math.atan2(end.y - middle.y, end.x - middle.x));
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
