// What if a model were better or worse? A slider for its share of right answers in each class moves the system's cost.

const MOST_SLIDERS = 50;

function slidersCard(data, state, arithmetic, changed) {
  const place = node("div", { class: "sliders" });
  const element = node(
    "div", { class: "card what-if" },
    node("h3", { id: "what-if" }, t("system.what_if")),
    place,
  );
  if (!arithmetic) {
    place.append(node("p", { class: "note", id: "no-sliders" }, sentence(data.sliders.why_not)));
    return { element, move() {} };
  }
  let shown = null;
  let controls = [];
  return { element, move({ model }) {
    if (model !== shown) {
      const built = slidersOf(data, model, state, arithmetic, changed);
      controls = built.controls;
      place.replaceChildren(...built.parts);
      shown = model;
    }
    for (const control of controls) control.move();
  } };
}

function slidersOf(data, model, state, arithmetic, changed) {
  const place = arithmetic.axes.findIndex((axis) => axis.model === model);
  const axis = arithmetic.axes[place];
  const why = whyFixed(data, model, axis);
  if (why) return { controls: [], parts: [node("p", { class: "note", id: "no-sliders" }, why)] };
  const possible = slidersOfAxis(axis);
  const shown = possible.slice(0, MOST_SLIDERS);
  const controls = shown.map((one) => accuracySlider(data, model, place, one, state, changed));
  const back = (whose, id, text) => button(text, () => {
    for (const key of Object.keys(state.accuracy)) if (whose(key)) delete state.accuracy[key];
    changed();
  }, { id });
  const { name } = data.models[model];
  return { controls, parts: [
    node("p", { class: "note" }, t(axis.by_rows ? "system.what_if_rows" : "system.what_if_tables", { model: name })),
    ...controls.map((control) => control.element),
    possible.length > MOST_SLIDERS
      ? node("p", { class: "note" }, t("system.sliders_cut", { n: possible.length, shown: MOST_SLIDERS }))
      : "",
    node(
      "div", { class: "tools" },
      back((key) => key.startsWith(`${place},`), "reset-model", t("system.reset_model", { model: name })),
      back(() => true, "reset-all", t("system.reset_all")),
    ),
  ] };
}

function whyFixed(data, model, axis) {
  const { name } = data.models[model];
  if (!axis) return t("system.does_not_matter", { model: name });
  if (axis.fixed) return t("system.seen_in_rows", { model: name });
  return axis.right.every((right) => right < 0) ? t("system.no_right", { model: name }) : "";
}

function accuracySlider(data, model, place, { c, a, now }, state, changed) {
  const key = `${place},${c},${a}`;
  const label = sliderLabel(data, model, { c, a });
  const set = (share) => {
    state.accuracy[key] = share;
    changed();
    return true;
  };
  const slider = node("input", {
    type: "range", id: `accuracy-${c}-${a}`, class: "accuracy", min: 0, max: 1000, step: 1, "aria-label": label,
  });
  slider.addEventListener("input", () => set(Number(slider.value) / 1000));
  const typed = numberField(label, 0, (value) => value >= 0 && value <= 100 && set(value / 100), {
    id: `accuracy-typed-${c}-${a}`,
  });
  return {
    element: node("div", { class: "accuracy-row" }, typed.element, slider),
    move() {
      const share = state.accuracy[key] ?? now;
      slider.value = Math.round(1000 * share);
      slider.setAttribute("aria-valuetext", writePercent(share));
      slider.dataset.value = String(share);
      typed.field.value = writeExact(Number((100 * share).toPrecision(12)));
      typed.field.setAttribute("aria-invalid", "false");
    },
  };
}

// What follows: the cost, beside what it is now and what one decision for everybody costs, and what is decided.
function outcomeCard(data, arithmetic) {
  const figure = (id, text) => {
    const made = node("span", { class: "value", id });
    return { made, row: node("div", {}, node("dt", {}, text), node("dd", {}, made)) };
  };
  const cost = node("p", { class: "big", id: "system-cost" });
  const [now, change, always] = [
    figure("system-now", t("system.now")),
    figure("system-change", t("system.change")),
    figure("system-constant", t("system.always", { decision: data.constant.decision })),
  ];
  setFigure(now.made, data.cost, writeCost(data.cost));
  setFigure(always.made, data.constant.cost, writeCost(data.constant.cost));
  const table = arithmetic ? decidedTable(data) : null;
  const element = node(
    "div", { class: "card outcome" },
    node("h3", { id: "outcome-title" }, t("system.costs_now")),
    node(
      "div", { class: "halves" },
      node(
        "div", {},
        node("div", { role: "status", "aria-labelledby": "outcome-title" }, cost),
        node("dl", { class: "readings tight" }, now.row, change.row, always.row),
      ),
      table?.element,
    ),
  );
  return { element, move({ cost: here, decided }) {
    setFigure(cost, here, writeCost(here));
    const moved = Math.abs(here - data.cost) <= 1e-9 * Math.abs(data.cost) ? 0 : here - data.cost;
    setFigure(change.made, moved, formatter({ maximumSignificantDigits: 5, signDisplay: "exceptZero" }).format(moved));
    element.classList.toggle("cheaper", moved < 0);
    element.classList.toggle("dearer", moved > 0);
    table?.move(decided);
  } };
}

const MOST_DECIDED = 12;

function decidedTable({ classes, decisions }) {
  if (classes.length > MOST_DECIDED || decisions.length > MOST_DECIDED) return null;
  const cell = (c, s) => node("span", { class: "value", id: `decided-${c}-${s}` });
  const cells = classes.map((_, c) => decisions.map((__, s) => cell(c, s)));
  const element = tableOf(
    [t("confusion.corner"), ...decisions], classes.map((name, c) => [name, ...cells[c]]),
    { caption: t("system.decided") },
  );
  return { element, move(decided) {
    decided.forEach((row, c) => row.forEach((share, s) => setFigure(cells[c][s], share, writePercent(share))));
  } };
}
