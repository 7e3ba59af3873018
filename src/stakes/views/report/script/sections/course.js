// The course of a watched figure with limits that hold on all days at once, and the evidence against it.

SECTIONS.course = (data) => node("div", { class: "stack" }, courseChart(data).figure, evidenceChart(data).figure);

function courseCsv(data) {
  return () => ({
    head: ["day", "rows", "own", "value", "low", "high", "evidence"],
    rows: data.days.map((day, i) => [
      day, data.rows[i], data.own[i], data.value[i], data.low[i], data.high[i], data.evidence[i],
    ]),
  });
}

function dayAxis(data) {
  const last = data.days.length - 1;
  const write = (i) => (Number.isInteger(i) && data.days[i] ? data.days[i] : "");
  const some = NARROW.matches ? 2 : 5; // none at the very end, where its name would be cut
  const ticks = [...new Set(Array.from({ length: some }, (_, k) => Math.round(((k + 0.5) * last) / some)))];
  return { name: t("watch.day"), domain: [-0.5, Math.max(last, 1) + 0.5], write, ticks };
}

const known = (value) => value !== null && Number.isFinite(Number(value));

function courseChart(data) {
  const name = metricName(data.metric);
  const places = data.days.map((_, i) => i);
  const shown = places.filter((i) => known(data.value[i]));
  const chart = new Chart({
    id: `${data.id}-chart`, title: t("watch.course", { name }),
    about: t("watch.about_course", { confidence: data.confidence }),
    width: NARROW.matches ? 340 : 900, height: NARROW.matches ? 300 : 340,
    x: dayAxis(data),
    y: { name, domain: domainOf([...data.own, ...data.low, ...data.high, data.limit].filter(known).map(Number)) },
    legend: [
      { text: t("watch.own"), look: "dot" }, { text: t("watch.so_far"), look: "line accent" },
      { text: t("watch.limits", { confidence: data.confidence }), look: "band" },
      { text: t("watch.limit", { limit: data.limit }), look: "line diagonal" },
      ...(data.alarm === null ? [] : [{ text: t("watch.alarm_on", { day: data.days[data.alarm] }), look: "line seen" }]),
      ...(data.change_days === null ? [] : [{ text: t("watch.may_have_changed"), look: "band honest" }]),
    ],
    table: courseCsv(data),
  });
  if (data.change_days !== null) {
    chart.add(spanBetween(chart, data.change_days[0] - 0.5, data.change_days[1] + 0.5));
  }
  chart.add(band(chart, places, data.low, data.high));
  chart.add(...places.filter((i) => known(data.own[i])).map((i) => dot(chart, i, Number(data.own[i]), "dot", 3)));
  chart.add(line(chart, shown, shown.map((i) => Number(data.value[i])), "line accent"));
  chart.add(levelAt(chart, data.limit));
  if (data.alarm !== null) chart.add(ruleAt(chart, data.alarm, "line seen"));
  addReadout(chart, () => shown.map((i) => ({
    x: i, y: Number(data.value[i]),
    text: () => t("watch.readout", { day: data.days[i], own: data.own[i], value: data.value[i] }),
  })));
  return chart;
}

function evidenceChart(data) {
  const places = data.days.map((_, i) => i);
  const log = data.evidence.map((value) => Math.max(Math.log10(Math.max(Number(value), 1e-12)), -3));
  const needed = Math.log10(data.needed);
  const top = Math.max(needed, ...log);
  const powers = ticks([-3, Math.min(top, 40)], NARROW.matches ? 4 : 7).filter(Number.isInteger);
  const chart = new Chart({
    id: `${data.id}-evidence`, title: t("watch.evidence_chart"), about: t("watch.about_evidence"),
    width: NARROW.matches ? 340 : 900, height: NARROW.matches ? 260 : 240,
    x: dayAxis(data),
    y: {
      name: t("watch.evidence_column"), domain: [-3.2, Math.min(top, 40) + 0.4],
      ticks: powers, write: (power) => (Math.abs(power) > 4 ? FORMATS.number(10 ** power) : writeTick(10 ** power)),
    },
    legend: [
      { text: t("watch.evidence_column"), look: "line accent" },
      { text: t("watch.needed", { needed: data.needed }), look: "line diagonal" },
    ],
    table: courseCsv(data),
  });
  chart.add(line(chart, places, log.map((value) => Math.min(value, 40)), "line accent"), levelAt(chart, needed));
  if (data.alarm !== null) chart.add(ruleAt(chart, data.alarm, "line seen"));
  addReadout(chart, () => places.map((i) => ({
    x: i, y: Math.min(log[i], 40), text: () => t("watch.evidence_on", { day: data.days[i], evidence: data.evidence[i] }),
  })));
  return chart;
}
