// The only functions that create elements: text is always a text node, so document text never becomes markup.

const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/** Replace the children of `element`. */
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (name === "vars") {
    for (const [variable, setting] of Object.entries(value)) element.style.setProperty(variable, String(setting));
  } else if (name === "value" && "value" in element) {
    element.value = value;
  } else {
    element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}
