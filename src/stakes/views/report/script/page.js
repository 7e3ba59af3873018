// The page: what stands on top, the sections in their order, and what to do when language or theme change.

const SECTIONS = {};

const PREFERS_DARK = window.matchMedia("(prefers-color-scheme: dark)");

function open() {
  const theme = () => setDark(PREFERS_DARK.matches);
  PREFERS_DARK.addEventListener("change", theme);
  NARROW.addEventListener("change", draw);
  theme();
  draw();
}

function draw() {
  const place = window.scrollY;
  document.documentElement.lang = language;
  document.title = sentence(PAYLOAD.title);
  for (const old of document.querySelectorAll("body > :not(script):not(noscript)")) old.remove();
  document.body.prepend(
    node("a", { class: "skip", href: "#main" }, t("page.skip")),
    header(),
    node("main", { id: "main" }, PAYLOAD.sections.map(drawSection)),
    node("footer", {}, node("p", {}, t("page.footer"))),
  );
  window.scrollTo(0, place);
}

// A second section of the same kind on a page has an id and a title of its own.
function sectionId({ kind, id }) {
  return id ?? kind;
}

function sectionTitle({ kind, title }) {
  return title ? sentence(title) : t(`${kind}.title`);
}

function drawSection(data) {
  const id = sectionId(data);
  const title = node("h2", { id: `${id}-title` }, sectionTitle(data));
  return node("section", { id, "aria-labelledby": `${id}-title` }, title, SECTIONS[data.kind](data));
}

function header() {
  const link = (data) => node("li", {}, node("a", { href: `#${sectionId(data)}` }, sectionTitle(data)));
  return node(
    "header", {},
    node(
      "div", { class: "bar" },
      node("span", { class: "brand" }, "stakes"),
      node("div", { class: "settings" }, languageChoice(), themeSwitch()),
    ),
    node("h1", {}, sentence(PAYLOAD.title)),
    node("ul", { class: "facts" }, PAYLOAD.facts.map((fact) => node("li", {}, sentence(fact)))),
    sourceOf(PAYLOAD),
    node("nav", { "aria-label": t("page.contents") }, node("ul", {}, PAYLOAD.sections.map(link))),
  );
}

// Where it all comes from: files, columns, models; the command or the call; when, and by which version.
function sourceOf({ source, about, made }) {
  const facts = [...source.facts.map(sentence), ...(made ? [made.date, `stakes ${made.version}`] : [])];
  const asked = about ?? source.call;
  if (!facts.length && !asked) return null;
  return node(
    "div", { class: "source", role: "note", "aria-label": t("page.source") },
    facts.length ? node("p", {}, facts.join(" · ")) : null,
    asked ? node("p", { class: "asked" }, wholeOptions(asked)) : null,
  );
}

// A command breaks between its options, not within them: "--" is no place to end a line.
function wholeOptions(command) {
  return command.split(/ (?=--?[a-z])/).map((option, i) => [i ? " " : "", node("span", {}, option)]);
}

function languageChoice() {
  const options = Object.entries(LANGUAGES).map(
    ([code, name]) => node("option", { value: code, lang: code, selected: code === language }, name),
  );
  const change = (event) => {
    language = event.target.value;
    draw();
    document.getElementById("language").focus();
  };
  return node(
    "label", {},
    node("span", { class: "hidden" }, t("page.language")),
    node("select", { id: "language", onchange: change }, options),
  );
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function setDark(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme")?.setAttribute("aria-pressed", String(dark));
}

function themeSwitch() {
  return button(t("page.dark"), () => setDark(!isDark()), { id: "theme", "aria-pressed": String(isDark()) });
}
