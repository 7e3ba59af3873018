// Which model is worth improving, and how much hangs on how the models err together.

SECTIONS.system_worth = (data) => node(
  "div", { class: "explorer" },
  node("p", { class: "intro" }, t("system_worth.intro")),
  perfectChart(data).figure,
  worthTable(data),
  boundsChart(data).figure,
);

function perfectChart({ models, now, all_perfect: all }) {
  const rows = models.map(({ name, perfect, saving }) => ({
    name, value: perfect, low: perfect, high: perfect === null ? null : now, reason: t("system_worth.unknown"),
    text: () => t("system_worth.readout", { model: name, cost: perfect, saving }),
  }));
  if (all !== null && rows.length > 1) {
    const name = t("system_worth.all_perfect");
    const told = { model: name, cost: all, saving: now - all };
    rows.push({ name, value: all, low: all, high: now, text: () => t("system_worth.readout", told) });
  }
  return listChart({
    id: "perfect", title: t("system_worth.perfect"), about: t("system_worth.perfect_about"),
    axis: t("system.per_thousand"), rows, rule: now,
    legend: [{ text: t("system_worth.perfect_dot"), look: "dot accent" }, { text: t("system.now"), look: "line rule" }],
    table: () => ({
      head: [t("system_worth.model"), t("system.perfect")], rows: rows.map(({ name, value }) => [name, value]),
    }),
  });
}

function boundsChart({ models, now, together, assumed }) {
  const list = models.map(({ name, bounds }) => ({ name, bounds }));
  if (together) list.push({ name: t("system_worth.all_models"), bounds: together });
  const rows = list.map(({ name, bounds: { best, independent, worst } }) => ({
    name, value: independent, low: best, high: worst,
    text: () => t("system_worth.bounds_readout", { model: name, best, worst, independent }),
  }));
  const about = t("system_worth.bounds_about") + (assumed ? ` ${t("system_worth.bounds_assumed")}` : "");
  return listChart({
    id: "bounds", title: t("system_worth.bounds"), about, axis: t("system.per_thousand"), rows, rule: now,
    legend: [{ text: t("system_worth.bounds_dot"), look: "dot accent" }, { text: t("system.now"), look: "line rule" }],
    table: () => ({
      head: [t("system_worth.model"), t("system.best"), t("system.independent"), t("system.worst")],
      rows: list.map(({ name, bounds }) => [name, bounds.best, bounds.independent, bounds.worst]),
    }),
  });
}

function worthTable({ models, now, shares, confidence }) {
  const head = [
    t("system_worth.model"), t("system_worth.if_perfect"), t("system_worth.saves"), t("system_worth.if_removed"),
    t("system_worth.always_says"), ...(shares ? [t("system_worth.share")] : []),
  ];
  const cost = (value) => figureCell({ value }, writeCost);
  const range = (ends) => node("span", { class: "limits" }, writeInterval(...ends, writeCost));
  const span = (value, ends) => (ends ? range(ends) : cost(value));
  const sure = (value, ends) => (ends ? node("span", {}, cost(value), " ", range(ends)) : cost(value));
  const rows = models.map((one) => [
    one.name, span(one.perfect, one.perfect_range), sure(one.saving, one.saving_limits),
    span(one.removed, one.removed_range), one.answer, ...(shares ? [sure(one.share, one.share_limits)] : []),
  ]);
  const ends = [t("figures.low"), t("figures.high")];
  const csv = () => ({
    head: [...head.slice(0, 3), ...ends, ...head.slice(3), ...(shares ? ends : [])],
    rows: models.map((one) => [
      one.name, one.perfect, one.saving, ...(one.saving_limits ?? ["", ""]), one.removed, one.answer,
      ...(shares ? [one.share, ...(one.share_limits ?? ["", ""])] : []),
    ]),
  });
  const limits = models.some((one) => one.saving_limits) ? ` ${t("system_worth.limits", { confidence })}` : "";
  return node(
    "div", { class: "card" },
    tableOf(head, rows, { caption: t("system_worth.caption", { cost: now }), id: "worth", csv }),
    node("p", { class: "note" }, t(shares ? "system_worth.share_means" : "system_worth.no_shares"), limits),
  );
}
