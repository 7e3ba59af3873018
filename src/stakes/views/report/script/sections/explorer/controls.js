// Where the user sets things: the threshold (slider and typed number), costs, prevalence.

// The slider's right end is the strictest threshold; stops are counted from there.
function thresholdControl(model, state, changed) {
  const slider = node(
    "input",
    {
      type: "range", id: "threshold-slider", min: 0, max: model.last, step: 1, "aria-label": t("explorer.threshold"),
      "aria-describedby": "threshold-scale",
    },
  );
  const typed = node(
    "input",
    { type: "text", inputmode: "decimal", id: "threshold-typed", size: 10, autocomplete: "off" },
  );
  const snapped = node("p", { class: "snapped", role: "status", id: "snapped" });
  slider.addEventListener("input", () => {
    state.stop = model.last - Number(slider.value);
    setText(snapped, "");
    changed();
  });
  typed.addEventListener("change", () => {
    const wanted = readNumber(typed.value);
    if (Number.isNaN(wanted)) return setText(snapped, t("explorer.no_number"));
    state.stop = model.stopFor(wanted);
    changed();
    setText(snapped, snapWords(model, wanted, model.thresholds[state.stop]));
  });
  const element = node(
    "div", { class: "threshold" },
    node("label", { for: "threshold-typed" }, t("explorer.threshold")),
    typed,
    slider,
    sliderScale(model),
    snapped,
    node(
      "div", { class: "ends", "aria-hidden": "true" },
      node("span", {}, t("explorer.loose")),
      node("span", {}, t("explorer.strict")),
    ),
    node("p", { class: "hidden", id: "threshold-scale" }, t("explorer.scale")),
  );
  return { element, move({ stop }) {
    const threshold = model.thresholds[stop];
    slider.value = model.last - stop;
    const written = model.writeStop(stop);
    slider.setAttribute("aria-valuetext", written);
    typed.value = written;
    typed.dataset.value = String(threshold);
  } };
}

// The scores at some places of the slider, which goes from one to the next whatever lies between them.
function sliderScale(model) {
  const places = NARROW.matches ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  const stops = new Set(places.map((share) => model.last - Math.round(share * model.last)));
  const mark = (stop) => node("span", {}, formatter({ maximumSignificantDigits: 3 }).format(model.thresholds[stop]));
  return node("div", { class: "scale", title: t("explorer.scale"), "aria-hidden": "true" }, [...stops].map(mark));
}

function snapWords(model, wanted, took) {
  if (took === wanted) return t("explorer.exact");
  return t(model.data.complete ? "explorer.alike" : "explorer.snapped", { wanted, took });
}

// A miss and a false alarm, or the whole table of costs where one was given.
function costControl(model, state, changed) {
  const { negative, positive, costs } = model.data;
  const field = (label, row, column, id) => numberField(label, state.costs[row][column], (value) => {
    if (!Number.isFinite(value)) return false;
    state.costs[row][column] = value;
    state.touched = true;
    changed();
    return true;
  }, { id });
  const simple = costs.decisions.length === 2 && costs.matrix[0][0] === 0 && costs.matrix[1][1] === 0;
  if (simple) {
    return node(
      "fieldset", {},
      node("legend", {}, t("explorer.costs"), costs.unit ? ` (${costs.unit})` : ""),
      field(t("explorer.miss"), 1, 0, "cost-miss").element,
      field(t("explorer.false_alarm"), 0, 1, "cost-alarm").element,
      costs.given ? null : node("p", { class: "note" }, t("explorer.costs_assumed")),
    );
  }
  const name = (row, column) => t(
    "explorer.cost_of",
    { decision: costs.decisions[column], truth: [negative, positive][row] },
  );
  const rows = [0, 1].map((row) => [[negative, positive][row], ...costs.decisions.map((_, column) => {
    const { field: made } = field("", row, column, `cost-${row}-${column}`);
    made.setAttribute("aria-label", name(row, column));
    return made;
  })]);
  return node(
    "fieldset", { class: "wide" },
    node("legend", {}, t("explorer.costs"), costs.unit ? ` (${costs.unit})` : ""),
    tableOf([t("confusion.corner"), ...costs.decisions], rows, { caption: t("explorer.cost_table") }),
  );
}

// The share of the positive class where the model is going to be used; the slider is even in log odds.
const LOWEST_ODDS = Math.log(1e-4);

function prevalenceControl(model, state, changed) {
  const set = (share) => {
    state.prevalence = share;
    changed();
    return true;
  };
  const typed = numberField(
    t("explorer.prevalence"),
    100 * state.prevalence,
    (value) => value > 0 && value < 100 && set(value / 100),
    { id: "prevalence-typed" },
  );
  const slider = node(
    "input",
    { type: "range", id: "prevalence-slider", min: -1000, max: 1000, step: 1, "aria-label": t("explorer.prevalence") },
  );
  slider.addEventListener("input", () => set(1 / (1 + Math.exp(LOWEST_ODDS * (Number(slider.value) / 1000)))));
  const back = button(t("explorer.as_in_rows"), () => set(model.rowsPrevalence), { id: "prevalence-reset" });
  const element = node(
    "fieldset", {},
    node("legend", {}, t("explorer.deployment")),
    typed.element,
    slider,
    back,
    node("p", { class: "note" }, t("explorer.prevalence_means")),
  );
  return { element, move({ prevalence }) {
    typed.field.value = formatter({ maximumSignificantDigits: 4 }).format(100 * prevalence);
    typed.field.dataset.value = String(prevalence);
    slider.value = Math.round((-1000 * Math.log(prevalence / (1 - prevalence))) / LOWEST_ODDS);
    slider.setAttribute("aria-valuetext", writePercent(prevalence));
  } };
}
