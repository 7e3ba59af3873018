// Elements. What comes from the data becomes text nodes and attribute values, never markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function node(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(
      name,
      value === true ? "" : value,
    );
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A number on the page keeps all its digits beside what is shown of it.
function setFigure(element, value, text) {
  element.dataset.value = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  setText(element, text);
}

function button(text, action, attributes = {}) {
  return node("button", { type: "button", onclick: action, ...attributes }, text);
}

// What a user has set outlives a change of language, which redraws the page.
const remembered = new Map();
function remember(name, start) {
  if (!remembered.has(name)) remembered.set(name, start);
  return remembered.get(name);
}
