// Okabe and Ito's palette, distinguishable with any kind of color vision. Items nine to sixteen reuse it with a pattern;
// later ones are gray, since no more are distinguishable.

import { s } from "./dom.js";

export const COLORS = 8;
export const MAX_COLORED = 16;

/** Class names of the color of the n-th item; see texts.css and charts.css. */
export const color = (n) =>
  n === undefined || n < 0 || n >= MAX_COLORED ? "gray" : `color-${n % COLORS}${n >= COLORS ? " second" : ""}`;

/** Stripes to draw over a shape that repeats a color. */
export const stripes = (id) =>
  s(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 2, height: 6, class: "stripe" }),
  );
