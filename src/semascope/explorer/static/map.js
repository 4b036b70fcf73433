// Map of all topics: distance shows similarity, area shows share.

import { h, s, show } from "./dom.js";
import { hasName, percent, title } from "./format.js";
import { place } from "./labels.js";
import { fitted, width as widthOf } from "./measure.js";
import { spread } from "./spread.js";

const FILLED = 0.27; // fraction of the map covered by circles
const LARGEST = 0.11; // radius of the largest circle, relative to the width
const NARROW = 500; // pixels; below this width letters are smaller

/** `address(topic)` is the link of a topic. */
export function drawMap(topics, width, { label, address, tip }) {
  const height = Math.round(Math.min(Math.max(width * proportion(topics), 340), 680));
  const circles = layout(topics, width, height);
  const spots = place(circles, width, height);
  const marks = circles.map((circle, i) => mark(circle, i === 0 ? 0 : -1, address, tip));
  const names = spots.map((spot, i) => spot && written(spot, circles[i].topic.topic));
  // Small circles are drawn last, so that a large one never hides them.
  const svg = s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "group",
      "aria-label": label,
      class: width < NARROW ? "map narrow" : "map",
    },
    marks,
    names,
  );
  svg.addEventListener("keydown", (event) => move(event, circles, marks));
  return svg;
}

function layout(topics, width, height) {
  const total = topics.reduce((sum, topic) => sum + topic.share, 0) || 1;
  const most = Math.max(...topics.map((topic) => topic.share), 1e-12);
  const scale = Math.min(Math.sqrt((FILLED * width * height) / Math.PI / total), (LARGEST * width) / Math.sqrt(most));
  const radius = (topic) => Math.max(Math.sqrt(topic.share) * scale, 3);
  const edge = Math.min(Math.max(...topics.map(radius)) + 6, width / 4);
  const across = scaled(
    topics.map((topic) => topic.x),
    edge,
    width - edge,
  );
  const down = scaled(
    topics.map((topic) => topic.y),
    edge,
    height - edge,
  );
  const circles = [...topics]
    .sort((a, b) => b.share - a.share)
    .map((topic) => {
      return { topic, x: across(topic.x), y: down(topic.y), r: radius(topic), ...names(topic, width) };
    });
  spread(circles, width, height);
  return circles;
}

/** Aspect ratio of the topic positions. */
function proportion(topics) {
  const range = (values) => Math.max(...values) - Math.min(...values) || 1;
  return Math.min(Math.max(range(topics.map((topic) => topic.y)) / range(topics.map((topic) => topic.x)), 0.62), 0.85);
}

/** Linear scale from the range of `values` to [from, to]. */
function scaled(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return (value) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2);
}

/** The name in at most two lines, and in one; unnamed topics use their top words. */
function names(topic, width) {
  const words = hasName(topic) ? topic.name.split(/\s+/).filter(Boolean) : topic.words.slice(0, 2);
  const whole = words.length ? words : [topic.name];
  const half = Math.ceil(whole.length / 2);
  const lines = [whole.slice(0, half), whole.slice(half)]
    .filter((line) => line.length)
    .map((line) => measured(line.join(" "), width));
  return { lines, short: measured(hasName(topic) ? whole.join(" ") : whole[0], width) };
}

function measured(words, width) {
  const letters = width < NARROW ? "600 11px" : "600 12.5px";
  const text = fitted(words, width / 4, letters);
  return { text, width: widthOf(text, letters) };
}

function written({ x, y, anchor, lines }, topic) {
  const first = y - ((lines.length - 1) * 14) / 2 + 4.5;
  const line = ({ text }, i) => s("tspan", { x, y: first + i * 14 }, text);
  return s("text", { class: "map-name", "text-anchor": anchor, "data-topic": topic }, lines.map(line));
}

function mark({ topic, x, y, r }, tabindex, address, tip) {
  const about = `${title(topic)}, ${percent(topic.share)}: ${topic.words.join(", ")}`;
  const on = {
    pointerenter: () => tip.at(topic, x, y - r),
    focus: () => tip.at(topic, x, y - r),
    pointerleave: tip.off,
    blur: tip.off,
  };
  return s(
    "a",
    { href: address(topic), tabindex, "aria-label": about, "data-topic": topic.topic, on },
    s("circle", { cx: x, cy: y, r, class: "map-circle" }),
  );
}

/** Arrow keys move to the nearest topic in their direction. */
function move(event, circles, marks) {
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const from = marks.indexOf(document.activeElement);
  if (!direction || from < 0) return;
  event.preventDefault();
  const cost = (circle) => {
    const [dx, dy] = [circle.x - circles[from].x, circle.y - circles[from].y];
    const ahead = dx * direction[0] + dy * direction[1];
    const aside = Math.abs(dx * direction[1] + dy * direction[0]);
    return ahead > 0 ? ahead + 2 * aside : Infinity;
  };
  const costs = circles.map(cost);
  const to = costs.indexOf(Math.min(...costs));
  if (costs[to] === Infinity) return;
  marks[from].setAttribute("tabindex", -1);
  marks[to].setAttribute("tabindex", 0);
  marks[to].focus();
}

/** Words of the topic under the pointer, above its circle on `ground()`. Hidden from screen readers, which read the name of the circle. */
export function makeTip(ground) {
  const box = h("div", { class: "tip", hidden: true, "aria-hidden": true });
  const at = (topic, x, y) => {
    show(
      box,
      h("strong", {}, title(topic)),
      h("span", { class: "faint" }, ` ${percent(topic.share)}`),
      h("p", {}, topic.words.join(" ")),
    );
    box.hidden = false;
    const { offsetLeft, offsetTop, clientWidth } = ground();
    const left = Math.min(Math.max(x - box.offsetWidth / 2, 0), Math.max(clientWidth - box.offsetWidth, 0));
    box.style.setProperty("left", `${offsetLeft + left}px`);
    box.style.setProperty("top", `${offsetTop + y - box.offsetHeight - 8}px`);
  };
  return {
    box,
    at,
    off: () => {
      box.hidden = true;
    },
  };
}

/** Fade what does not match; `matches` is a set of numbers, or null for all. Returns the drawing, which may not exist yet. */
export function fade(svg, matches) {
  for (const element of svg?.querySelectorAll("[data-topic]") ?? []) {
    element.classList.toggle("faded", matches !== null && !matches.has(Number(element.dataset.topic)));
  }
  return svg;
}
