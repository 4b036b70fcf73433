// Text widths, measured before drawing.

import { h } from "./dom.js";

const pen = h("canvas").getContext("2d");

/** Width of `text` in pixels in the font of the page. */
export function width(text, font = "13px") {
  pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** `text`, truncated with an ellipsis to fit. */
export function fitted(text, room, font) {
  if (width(text, font) <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && width(`${letters.join("")}…`, font) > room) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}
