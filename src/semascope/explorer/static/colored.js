// Texts with every word in the color of its topic, the mixture as a bar, and a legend that toggles topics.

import { h, s } from "./dom.js";
import { percent, spokenLanguage } from "./format.js";
import { figure } from "./figure.js";
import { cut } from "./marks.js";
import { color, COLORS, stripes, MAX_COLORED } from "./palette.js";
import { link } from "./router.js";

/**
 * topics: {topic, title, share}, the largest first; texts: {language, text, words: [{start, end, topic, weight}]}.
 * Returns the elements `mixture` and `reading`.
 */
export function colored({ topics, texts, about, name }) {
  const places = new Map(topics.map((topic, i) => [topic.topic, i]));
  const off = new Set();
  const reading = h(
    "div",
    { class: "reading" },
    texts.map((text) => textOf(text, places, topics)),
  );
  const toggle = (i, button) => {
    if (!off.delete(i)) off.add(i);
    button.setAttribute("aria-pressed", String(!off.has(i)));
    for (const word of reading.querySelectorAll(`[data-place="${i}"]`)) word.classList.toggle("off", off.has(i));
  };
  const mixture = figure({
    title: about.kind === "labels" ? "Labels of its words" : "Topics",
    name: `${name}-mixture`,
    draw: (width) => mixtureBar(topics, width),
    rows: () => topics.map(({ topic, title, share }) => ({ topic, name: title, share })),
  }).element;
  mixture.classList.add("sum");
  mixture.append(...legend(topics, about, toggle).filter(Boolean));
  return { mixture, reading };
}

function legend(topics, about, toggle) {
  const entry = ({ topic, title, share }, i) => {
    const button = h("button", {
      type: "button",
      class: "toggle",
      "aria-pressed": "true",
      title: "Toggle the color of its words",
      "aria-label": `Color the words of ${title}`,
    });
    button.append(h("span", { class: `swatch ${color(i)}` }));
    button.addEventListener("click", () => toggle(i, button));
    return h(
      "li",
      {},
      button,
      h("a", { href: link([about.kind, String(topic)]) }, title),
      h("span", { class: "aside" }, percent(share)),
    );
  };
  const entries = topics.slice(0, MAX_COLORED).map(entry);
  const rest = entries.slice(COLORS);
  const further =
    rest.length > 0 &&
    h("details", { class: "further" }, h("summary", {}, `${rest.length} more`), h("ul", { class: "legend" }, rest));
  return [h("ul", { class: "legend" }, entries.slice(0, COLORS)), further];
}

/** One stacked bar of the topic shares. */
function mixtureBar(topics, width) {
  const height = 26;
  const total = Math.max(
    topics.reduce((sum, topic) => sum + topic.share, 0),
    1,
  );
  const label = `Mixture: ${topics
    .slice(0, 5)
    .map(({ title, share }) => `${title} ${percent(share)}`)
    .join(", ")}`;
  let x = 0;
  const part = ({ title, share }, i) => {
    const box = { x, y: 0, width: Math.max((share / total) * width, 0), height };
    x += box.width;
    const again = i >= COLORS && i < MAX_COLORED;
    return s(
      "g",
      {},
      s("title", {}, `${title}: ${percent(share)}`),
      s("rect", { ...box, class: `part ${color(i)}` }),
      again && s("rect", { ...box, fill: "url(#stripes)" }),
    );
  };
  const ground = s("rect", { width, height, class: "bar-ground" });
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    s("defs", {}, stripes("stripes")),
    ground,
    topics.map(part),
  );
}

function textOf({ language, text, words }, places, topics) {
  const mark = ({ topic, weight }, word) => {
    const place = places.get(topic);
    if (place === undefined || place >= MAX_COLORED) return word;
    const title = `${topics[place].title}, ${percent(weight)}`;
    return h(
      "span",
      { class: `due ${color(place)}`, "data-place": place, title, vars: { "--weight": weight.toFixed(2) } },
      word,
    );
  };
  const lines = h("p", { class: "text", lang: language || null, dir: "auto" }, cut(text, words, mark));
  return language
    ? h("section", { "aria-label": spokenLanguage(language) }, h("h3", {}, spokenLanguage(language)), lines)
    : lines;
}
