// Line chart with axes and a tooltip of the nearest point.

import { s } from "./dom.js";
import { width as widthOf } from "./measure.js";

const HEIGHT = 210;
const AROUND = { top: 14, right: 14, bottom: 30, left: 52 };

/** points: {x, y, text}; xTicks: {x, text}; yText formats a tick; `zero` starts the axis at 0 and fills the area. */
export function line(points, width, { label, xTicks, yText, zero = true }) {
  const inner = { width: width - AROUND.left - AROUND.right, height: HEIGHT - AROUND.top - AROUND.bottom };
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const ticks = nice(zero ? 0 : Math.min(...ys), Math.max(...ys), 4);
  const [y0, y1] = [ticks[0], ticks.at(-1)];
  const x = (value) => AROUND.left + (x1 > x0 ? (value - x0) / (x1 - x0) : 0.5) * inner.width;
  const y = (value) => AROUND.top + (1 - (value - y0) / (y1 - y0 || 1)) * inner.height;
  const path = points.map((point, i) => `${i ? "L" : "M"}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join("");
  const base = AROUND.top + inner.height;
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label, class: "line" },
    ticks.map((tick) => [
      s("line", { x1: AROUND.left, x2: width - AROUND.right, y1: y(tick), y2: y(tick), class: "grid" }),
      s("text", { x: AROUND.left - 8, y: y(tick) + 4, class: "tick end" }, yText(tick)),
    ]),
    spaced(xTicks, x, width).map(({ at, text }) => s("text", { x: at, y: base + 20, class: "tick middle" }, text)),
    zero && s("path", { d: `${path}L${x(x1).toFixed(1)} ${base}L${x(x0).toFixed(1)} ${base}Z`, class: "area" }),
    s("path", { d: path, class: "curve" }),
    points.length <= 40 && points.map((point) => s("circle", { cx: x(point.x), cy: y(point.y), r: 2.5, class: "dot" })),
  );
  svg.append(reading(svg, points, x, y, width));
  return svg;
}

/** Dot and tooltip at the nearest point. */
function reading(svg, points, x, y, width) {
  const dot = s("circle", { r: 4.5, class: "here" });
  const text = s("text", { class: "reading" });
  const group = s("g", { "data-screen-only": true, visibility: "hidden" }, dot, text);
  svg.addEventListener("pointermove", (event) => {
    const at = ((event.clientX - svg.getBoundingClientRect().left) * width) / svg.getBoundingClientRect().width;
    const near = points.reduce((best, point) => (Math.abs(x(point.x) - at) < Math.abs(x(best.x) - at) ? point : best));
    dot.setAttribute("cx", x(near.x));
    dot.setAttribute("cy", y(near.y));
    text.textContent = near.text;
    text.setAttribute("x", Math.min(Math.max(x(near.x), AROUND.left + 70), width - 80));
    text.setAttribute("y", Math.max(y(near.y) - 10, 11));
    group.setAttribute("visibility", "visible");
  });
  svg.addEventListener("pointerleave", () => group.setAttribute("visibility", "hidden"));
  return group;
}

/** About `n` round ticks that cover the range. */
export function nice(low, high, n) {
  const range = high - low || Math.abs(high) || 1;
  const rough = range / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** As many ticks as fit, moved inwards at the edges. */
function spaced(ticks, x, width) {
  let end = -Infinity;
  return ticks.flatMap(({ x: value, text }) => {
    const half = widthOf(text, "12px") / 2;
    const at = Math.min(Math.max(x(value), half + 1), width - half - 1);
    if (at - half < end + 12) return [];
    end = at + half;
    return [{ at, text }];
  });
}
