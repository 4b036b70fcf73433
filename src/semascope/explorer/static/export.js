// Export of figures and tables: PNG and SVG of the drawing, CSV and JSON of its data. Nothing leaves the browser.

import { h } from "./dom.js";

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "dominant-baseline",
  "paint-order",
];

/** Export menu. `svg` returns the drawing, `rows` the objects of the table; either may be omitted. */
export function exportMenu({ title, name, svg, rows }) {
  const entries = [
    svg && ["PNG", async () => save(await png(svg()), `${name}.png`)],
    svg && ["SVG", () => save(text(standalone(svg()), "image/svg+xml"), `${name}.svg`)],
    rows && ["CSV", () => save(text(csv(rows()), "text/csv"), `${name}.csv`)],
    rows && ["JSON", () => save(text(JSON.stringify(rows(), null, 1), "application/json"), `${name}.json`)],
  ].filter(Boolean);
  const summary = h("summary", { title: "Save as a file", "aria-label": `Save as a file: ${title}` }, "⤓");
  const menu = h("details", { class: "export" }, summary);
  const entry = ([label, act]) =>
    h(
      "button",
      {
        type: "button",
        on: {
          click: () => {
            menu.open = false;
            act();
          },
        },
      },
      label,
    );
  menu.append(h("div", { class: "export-entries" }, entries.map(entry)));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    summary.focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}

// Text that spreadsheets evaluate as a formula, some even after blanks or in full-width letters.
const FORMULA = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/;

/** Rows of objects as CSV (RFC 4180). An apostrophe prevents spreadsheets from evaluating text as a formula. */
export function csv(rows) {
  if (!rows.length) return "";
  const columns = Object.keys(rows[0]);
  const cell = (value) => {
    const plain = Array.isArray(value) ? value.join(" ") : String(value ?? "");
    const harmless = typeof value !== "number" && FORMULA.test(plain) ? `'${plain}` : plain;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  return (
    [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((row) => row.map(cell).join(",")).join("\r\n") +
    "\r\n"
  );
}

/** The drawing as text, with inlined styles and its background color. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => inline(originals[i], element));
  copy.querySelectorAll("[data-screen-only]").forEach((element) => element.remove());
  const { width, height } = size(svg);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", width);
  ground.setAttribute("height", height);
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function inline(original, element) {
  const computed = getComputedStyle(original);
  for (const style of STYLES) element.setAttribute(style, computed.getPropertyValue(style));
  for (const attribute of ["class", "style", "tabindex", "href"]) element.removeAttribute(attribute);
}

const size = (svg) => ({ width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height });

/** At twice the screen resolution, for slides. */
async function png(svg) {
  const { width, height } = size(svg);
  const address = URL.createObjectURL(text(standalone(svg), "image/svg+xml"));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = h("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, width * 2, height * 2);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

const text = (content, type) => new Blob([content], { type: `${type};charset=utf-8` });

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
