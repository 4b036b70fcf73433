// Okabe and Ito's colours, which people with any kind of colour vision can tell apart. The ninth to sixteenth get them
// again with another pattern; whatever comes after that is grey, since nobody can tell more apart.

import { s } from "./dom.js";

export const COLOURS = 8;
export const TOLD_APART = 16;

/** Class names of the colour of the n-th thing; see texts.css and charts.css. */
export const colour = (n) =>
  n === undefined || n < 0 || n >= TOLD_APART ? "grey" : `colour-${n % COLOURS}${n >= COLOURS ? " second" : ""}`;

/** Stripes to draw over a shape that repeats a colour. */
export const stripes = (id) =>
  s(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 2, height: 6, class: "stripe" }),
  );
