// Okabe and Ito's colors, which people with any kind of color vision can tell apart. The ninth to sixteenth get them
// again with another pattern; whatever comes after that is gray, since nobody can tell more apart.

import { s } from "./dom.js";

export const COLORS = 8;
export const TOLD_APART = 16;

/** Class names of the color of the n-th thing; see texts.css and charts.css. */
export const color = (n) =>
  n === undefined || n < 0 || n >= TOLD_APART ? "gray" : `color-${n % COLORS}${n >= COLORS ? " second" : ""}`;

/** Stripes to draw over a shape that repeats a color. */
export const stripes = (id) =>
  s(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 2, height: 6, class: "stripe" }),
  );
