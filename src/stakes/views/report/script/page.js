// The page: what stands on top, the sections in their order, and what to do when language or theme change.

const SECTIONS = {};

function open() {
  NARROW.addEventListener("change", draw);
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
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeSwitch() {
  const flip = (event) => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    event.currentTarget.setAttribute("aria-pressed", isDark());
  };
  return button(t("page.dark"), flip, { id: "theme", "aria-pressed": String(isDark()) });
}
