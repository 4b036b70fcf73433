// How wide words are, before they are drawn.

import { h } from "./dom.js";

const pen = h("canvas").getContext("2d");

/** Pixels that `text` takes in the letters of the page. */
export function width(text, font = "13px") {
  pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** `text`, or as much of its beginning as has room, with dots. */
export function fitted(text, room, font) {
  if (width(text, font) <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && width(`${letters.join("")}…`, font) > room) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}
