// Placement of circle names without overlaps.

const HIGH = 14;

/**
 * circles: {x, y, r, lines, short}, the most important first; `lines` are the {text, width} of the whole name, `short` is that of
 * one line. Returns {x, y, anchor, lines} or null for each: in the circle if it fits, else beside it, else across its edge
 * where no other name is, else nowhere.
 */
export function place(circles, width, height) {
  const taken = [];
  return circles.map((circle) => {
    const free = ({ box }) => inside(box, width, height) && !taken.some((other) => overlap(other, box));
    const apart = ({ box }) => !circles.some((other) => other !== circle && covers(other, box));
    const within = [middle(circle, circle.lines), middle(circle, [circle.short])];
    const fits = ({ box }) => box.right - box.left <= 2.1 * circle.r;
    const found =
      within.find((spot) => fits(spot) && free(spot)) ??
      around(circle).find((spot) => free(spot) && apart(spot)) ??
      within.find(free);
    if (!found) return null;
    taken.push(found.box);
    return found;
  });
}

function middle({ x, y }, lines) {
  const half = Math.max(...lines.map((line) => line.width)) / 2;
  const high = (lines.length * HIGH) / 2;
  return { x, y, anchor: "middle", lines, box: { left: x - half, right: x + half, top: y - high, bottom: y + high } };
}

function around({ x, y, r, short }) {
  const spot = (anchor, at, left, across) => ({
    x: at,
    y: across,
    anchor,
    lines: [short],
    box: { left, right: left + short.width, top: across - HIGH / 2, bottom: across + HIGH / 2 },
  });
  return [
    spot("start", x + r + 4, x + r + 4, y),
    spot("end", x - r - 4, x - r - 4 - short.width, y),
    spot("middle", x, x - short.width / 2, y + r + 9),
    spot("middle", x, x - short.width / 2, y - r - 9),
  ];
}

const inside = (box, width, height) => box.left >= 1 && box.top >= 1 && box.right <= width - 1 && box.bottom <= height - 1;

const overlap = (a, b) => a.left < b.right + 3 && b.left < a.right + 3 && a.top < b.bottom && b.top < a.bottom;

function covers({ x, y, r }, box) {
  const dx = Math.max(box.left - x, 0, x - box.right);
  const dy = Math.max(box.top - y, 0, y - box.bottom);
  return Math.hypot(dx, dy) < r;
}
