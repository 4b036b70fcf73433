// A drawing with a caption and an export menu, redrawn when its width changes.

import { h, show } from "./dom.js";
import { exportMenu } from "./export.js";

/** `draw(width)` returns an svg element, `rows()` its data. */
export function figure({ title, name, draw, rows, controls, note }) {
  const ground = h("div", { class: "drawing" });
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(ground.clientWidth);
    if (width < 40) return;
    drawn = width;
    show(ground, draw(width));
  };
  new ResizeObserver(() => {
    if (Math.floor(ground.clientWidth) !== drawn) redraw();
  }).observe(ground);
  const heading = h("h2", {}, title);
  const menu = exportMenu({ title, name, svg: () => ground.querySelector("svg"), rows });
  const element = h(
    "figure",
    { class: "panel", "aria-label": title },
    h("div", { class: "panel-head" }, heading, menu),
    controls,
    ground,
    note && h("figcaption", {}, note),
  );
  return { element, redraw };
}

/** A section with a heading; `rows` adds an export menu. */
export function panel({ title, name, rows, level = "h2" }, ...children) {
  const menu = rows ? exportMenu({ title, name, rows }) : null;
  return h(
    "section",
    { class: "panel", "aria-label": title },
    h("div", { class: "panel-head" }, h(level, {}, title), menu),
    children,
  );
}
