// Texts by their keys, in the language that the page speaks at the moment.

const {
  lang: firstLanguage,
  languages: LANGUAGES,
  texts: TEXTS,
  page: PAYLOAD,
} = JSON.parse(document.getElementById("payload").textContent);

let language = firstLanguage;

// Gaps in a text: {name}, {name:percent}, {name:count}, {name:exact}, {name:cost}, {name:short}.
const GAP = /\{(\w+)(?::(\w+))?\}/g;

function t(key, values = {}) {
  const found = TEXTS[language][key];
  if (found === undefined) throw new Error(`no text for ${key}`);
  const text = typeof found === "string" ? found : plural(found, values.n);
  return text.replace(GAP, (_, name, format) => told(values[name], format));
}

// A sentence of the payload.
function sentence(said) {
  return t(said.key, said.values);
}

function plural(forms, number) {
  const rule = new Intl.PluralRules(language).select(Number(number));
  return forms[rule] ?? forms.other ?? forms.few; // a fraction in Russian takes the form of "few"
}

function told(value, format = "number") {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return listed(value);
  if (typeof value === "object") return toldAs(value);
  if (typeof value === "number" || value === "Infinity" || value === "-Infinity") return FORMATS[format](Number(value));
  return value;
}

// What is told in the language of the page: a sentence within a sentence, an argument of Python, a metric, a reason.
function toldAs(value) {
  if ("key" in value) return sentence(value);
  if ("argument" in value) return value.argument;
  return "metric" in value ? metricName(value.metric) : reasonText(value.reason);
}

// Names one after the other, each in quotation marks.
function listed(names) {
  const quoted = names.map((name) => (name === "…" ? name : t("page.quoted", { name })));
  const last = quoted.pop();
  return quoted.length ? t("page.list", { before: quoted.join(", "), last }) : last;
}

// A parameter stays as users write it: f_beta(beta=2). An average over classes is named after its figure: macro_f1.
const AVERAGED = /^(macro|weighted|micro|uniform|variance_weighted)_(?=[a-z])/;
const AVERAGES = {
  macro: ["average.macro", "average.macro_means"],
  weighted: ["average.weighted", "average.weighted_means"],
  micro: ["average.micro", "average.micro_means"],
  uniform: ["average.uniform", "average.uniform_means"],
  variance_weighted: ["average.variance_weighted", "average.variance_weighted_means"],
};

function metricName(text) {
  const average = AVERAGED.exec(text);
  if (average) return t(AVERAGES[average[1]][0], { name: metricName(text.slice(average[0].length)) });
  const [, name, parameters] = /^(\w+)(.*)$/.exec(text);
  return (TEXTS[language][`metric.${name}`] ?? name) + (parameters ? ` ${parameters}` : "");
}

function metricQuestion(text) {
  const average = AVERAGED.exec(text);
  if (!average) return TEXTS[language][`question.${/^\w+/.exec(text)[0]}`] ?? "";
  return `${metricQuestion(text.slice(average[0].length))} (${t(AVERAGES[average[1]][1])})`;
}

// Reasons and notes come in English, which is their key; one with gaps is found by the words between them.
function reasonText(words) {
  const texts = TEXTS[language];
  const whole = texts[`reason.${words}`] ?? texts[`note.${words}`];
  if (whole) return whole;
  for (const [pattern, text] of reasonPatterns(texts)) {
    const found = pattern.exec(words);
    if (found) return text.replace(GAP, (_, name) => toldInReason(found.groups[name]));
  }
  const parts = words.split("; ");
  return parts.length > 1 ? parts.map(reasonText).join("; ") : words;
}

// Those with the most words of their own come first.
function reasonPatterns(texts) {
  const keys = Object.keys(texts).filter((one) => /^(reason|note)\..*\{/.test(one));
  const own = (key) => key.slice(key.indexOf(".") + 1).replace(GAP, "").length;
  return keys
    .sort((one, other) => own(other) - own(one))
    .map((key) => {
      const words = key.slice(key.indexOf(".") + 1).replace(/[.*+?^$()|[\]\\]/g, "\\$&");
      return [new RegExp(`^${words.replace(GAP, "(?<$1>.+)")}$`), texts[key]];
    });
}

function toldInReason(text) {
  const number = readNumber(text);
  if (!Number.isNaN(number)) return told(number, Number.isInteger(number) ? "count" : "exact");
  const whole = reasonText(text);
  return whole !== text ? whole : metricName(text);
}
