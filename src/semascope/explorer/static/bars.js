// Horizontal bars with words on the left and numbers on the right.

import { s } from "./dom.js";
import { fitted, width as widthOf } from "./measure.js";

const ROW = 23;

/** rows: {label, value, text, more, href, class}; `more` is a second, fainter number. */
export function bars(rows, width, label) {
  const left = Math.min(Math.max(...rows.map((row) => widthOf(row.label)), 24) + 12, width * 0.42);
  const more = rows.some((row) => row.more) ? 46 : 0;
  const right = 58 + more;
  const room = Math.max(width - left - right, 20);
  const largest = Math.max(...rows.map((row) => row.value), 1e-12);
  const height = rows.length * ROW + 4;
  const row = ({ label: name, value, text, more: second, href, class: kind }, i) => {
    const y = i * ROW;
    const words = s("text", { x: left - 8, y: y + 16, class: "bar-label" }, fitted(name, left - 10));
    return s(
      "g",
      {},
      s("title", {}, `${name}: ${text}${second ? `, ${second}` : ""}`),
      href ? s("a", { href, "aria-label": name }, words) : words,
      s("rect", { x: left, y: y + 4, width: room, height: ROW - 8, rx: 2, class: "bar-ground" }),
      s("rect", {
        x: left,
        y: y + 4,
        width: Math.max((value / largest) * room, 1),
        height: ROW - 8,
        rx: 2,
        class: `bar ${kind ?? ""}`,
      }),
      s("text", { x: width - more - 4, y: y + 16, class: "bar-number" }, text),
      second && s("text", { x: width - 4, y: y + 16, class: "bar-number faint" }, second),
    );
  };
  // A drawing with links in it must not be an image, which would hide them from screen readers.
  const role = rows.some((entry) => entry.href) ? "group" : "img";
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label }, rows.map(row));
}
