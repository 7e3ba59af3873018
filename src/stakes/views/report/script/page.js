// The page: what stands on top, the sections in their order, and what to do when language or theme change.

const SECTIONS = {};

const PREFERS_DARK = window.matchMedia("(prefers-color-scheme: dark)");

function open() {
  const theme = () => setDark(PREFERS_DARK.matches);
  PREFERS_DARK.addEventListener("change", theme);
  NARROW.addEventListener("change", draw);
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  theme();
  draw();
}

function draw() {
  const place = window.scrollY;
  document.documentElement.lang = language;
  document.title = sentence(PAYLOAD.title);
  for (const old of document.querySelectorAll("body > :not(script):not(noscript)")) old.remove();
  const sections = PAYLOAD.sections.map((data) => node("section", { id: data.kind, "aria-labelledby": `${data.kind}-title` },
    node("h2", { id: `${data.kind}-title` }, t(`${data.kind}.title`)), SECTIONS[data.kind](data)));
  document.body.prepend(
    node("a", { class: "skip", href: "#main" }, t("page.skip")), header(),
    node("main", { id: "main" }, sections), node("footer", {}, node("p", {}, t("page.footer"))),
  );
  window.scrollTo(0, place);
}

function header() {
  const links = PAYLOAD.sections.map(({ kind }) => node("li", {}, node("a", { href: `#${kind}` }, t(`${kind}.title`))));
  return node(
    "header", {},
    node("div", { class: "bar" },
      node("span", { class: "brand" }, "stakes"),
      node("div", { class: "settings" }, languageChoice(), themeSwitch())),
    node("h1", {}, sentence(PAYLOAD.title)),
    node("ul", { class: "facts" }, PAYLOAD.facts.map((fact) => node("li", {}, sentence(fact)))),
    node("nav", { "aria-label": t("page.contents") }, node("ul", {}, links)),
  );
}

function languageChoice() {
  const options = Object.entries(LANGUAGES).map(([code, name]) => node("option", { value: code, lang: code, selected: code === language }, name));
  const change = (event) => {
    language = event.target.value;
    draw();
    document.getElementById("language").focus();
  };
  return node("label", {}, node("span", { class: "hidden" }, t("page.language")), node("select", { id: "language", onchange: change }, options));
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
