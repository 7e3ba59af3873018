// Texts by their keys, in the language that the page speaks at the moment.

const {
  lang: firstLanguage,
  languages: LANGUAGES,
  texts: TEXTS,
  page: PAYLOAD,
} = JSON.parse(document.getElementById("payload").textContent);

let language = firstLanguage;

// Gaps in a text: {name}, {name:percent}, {name:count}, {name:exact}, {name:cost}, {name:money}, {name:short}.
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

// Names one after the other, each in quotation marks; sentences as they are.
function listed(names) {
  if (names.some((one) => typeof one === "object")) return names.map(sentence).join(", ");
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

function averageOf(text) {
  const found = AVERAGED.exec(text);
  const name = found && /^\w+/.exec(text.slice(found[0].length))[0];
  return found && TEXTS[language][`metric.${name}`] ? found : null;
}

function metricName(text) {
  const average = averageOf(text);
  if (average) return t(AVERAGES[average[1]][0], { name: metricName(text.slice(average[0].length)) });
  const [, name, parameters] = /^(\w+)(.*)$/.exec(text);
  return (TEXTS[language][`metric.${name}`] ?? name) + (parameters ? ` ${parameters}` : "");
}

function metricQuestion(text) {
  const average = averageOf(text);
  if (!average) return TEXTS[language][`question.${/^\w+/.exec(text)[0]}`] ?? "";
  return `${metricQuestion(text.slice(average[0].length))} (${t(AVERAGES[average[1]][1])})`;
}

// Reasons and notes of figures are in English, which is the key of what each language says.
function reasonText(words) {
  return TEXTS[language][`reason.${words}`] ?? words;
}
