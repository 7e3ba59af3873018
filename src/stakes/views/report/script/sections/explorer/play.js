// The ROC curve built in the order of the scores: up for a positive, right for a negative, aslant for a tie.
// With few rows every score is a stop, so it goes case by case; with many it goes by stops.

const CASE_BY_CASE = 200;
const WHOLE_WALK = 12000; // milliseconds, when there are many stops

function playControl(model, state, changed) {
  const said = node("p", { class: "step", role: "status", id: "step" });
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const pause = Math.max(16, Math.min(600, WHOLE_WALK / model.last));
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    setText(toggle, t("explorer.play"));
  };
  const step = (many = 1) => {
    const from = state.stop;
    state.stop = Math.min(model.last, nextStop(model, from) + many - 1);
    changed();
    setText(said, stepWords(model, from, state.stop));
    if (state.stop === model.last) stop();
  };
  const start = () => {
    if (state.stop === model.last) restart();
    const many = Math.max(1, Math.round((pause * model.last) / WHOLE_WALK));
    timer = setInterval(() => (said.isConnected ? step(many) : stop()), pause);
    setText(toggle, t("explorer.pause"));
  };
  const restart = () => {
    stop();
    state.stop = 0;
    changed();
    setText(said, t("explorer.step_start"));
  };
  const toggle = button(t("explorer.play"), () => (timer === null ? start() : stop()), { id: "play", hidden: calm });
  const how = t(model.data.P + model.data.N <= CASE_BY_CASE ? "explorer.build_cases" : "explorer.build_stops");
  return node(
    "div", { class: "card play" },
    node("div", {}, node("h3", {}, t("explorer.build")), node("p", { class: "about" }, how)),
    node(
      "div", { class: "tools" },
      toggle,
      button(t("explorer.step"), () => { stop(); step(); }, { id: "step-once" }),
      button(t("explorer.restart"), restart, { id: "restart" }),
    ),
    said,
  );
}

// A threshold that was asked for between two scores moves nothing; it is no step.
function nextStop(model, from) {
  const { tp, fp } = model.data.stops;
  let next = Math.min(from + 1, model.last);
  while (next < model.last && tp[next] === tp[from] && fp[next] === fp[from]) next += 1;
  return next;
}

function stepWords(model, from, to) {
  const { tp, fp } = model.data.stops;
  const [up, right] = [tp[to] - tp[from], fp[to] - fp[from]];
  const key = up && right ? "explorer.step_both" : up ? "explorer.step_up" : "explorer.step_right";
  const { positive, negative } = model.data;
  return t(key, { score: model.thresholds[to], up, right, positive, negative });
}
