// Where people type.

// A field for a number; what is no number is marked and changes nothing.
function numberField(label, value, accept, attributes = {}) {
  const field = node("input", { type: "text", inputmode: "decimal", size: 7, autocomplete: "off", ...attributes });
  field.value = writeExact(value);
  field.addEventListener("change", () => field.setAttribute("aria-invalid", String(!accept(readNumber(field.value)))));
  return { field, element: node("label", { class: "field" }, node("span", {}, label), field) };
}
