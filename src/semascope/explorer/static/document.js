// One document: every word in the color of its topic, its mixture, labels and fields, and similar documents.

import { get } from "./api.js";
import { colored } from "./colored.js";
import { h } from "./dom.js";
import { panel } from "./figure.js";
import { slicer } from "./marks.js";
import { titled, titles } from "./names.js";
import { link } from "./router.js";
import { empty } from "./states.js";

export async function documentView({ about, path, signal }) {
  const [document, names] = await Promise.all([get(`documents/${encodeURIComponent(path[1])}`, null, signal), titles(signal)]);
  const topics = titled(document.topics, names);
  const name = `${about.title}-document`;
  const { mixture, reading } = colored({ topics, texts: document.texts, about, name });
  const texts = document.texts.some(({ text }) => text)
    ? panel({ title: "Text", name: `${name}-words`, rows: () => wordRows(document, names) }, reading)
    : panel(
        { title: "Text" },
        empty(
          "The corpus was built without texts.",
          h("p", {}, "Rebuild it from its source with texts to read documents here."),
        ),
      );
  if (document.texts.length > 1) texts.classList.add("several");
  const node = h(
    "article",
    { class: "document" },
    h(
      "header",
      { class: "topic-head" },
      h("p", { class: "steps" }, h("a", { href: link(["documents"]) }, "All documents")),
      h("h1", { dir: "auto" }, document.title),
      facts(document),
    ),
    h(
      "div",
      { class: "columns reading-columns" },
      h("div", {}, texts),
      h("div", {}, topics.length ? mixture : null, similar(document, name)),
    ),
  );
  return { title: document.title, node };
}

function wordRows(document, names) {
  return document.texts.flatMap(({ language, text, words }) => {
    const slice = slicer(text);
    const word = ({ start, end, topic, weight }) => ({
      language,
      start,
      end,
      word: slice(start, end),
      topic,
      name: names.get(topic) ?? "",
      weight,
    });
    return words.map(word);
  });
}

function facts(document) {
  const fields = Object.entries(document.fields).filter(
    ([field, value]) => field !== "title" && value !== null && value !== "",
  );
  const pairs = [["id", document.id], ...fields].map(([field, value]) =>
    h(
      "div",
      {},
      h("dt", {}, field),
      h("dd", { dir: "auto" }, typeof value === "object" ? JSON.stringify(value) : String(value)),
    ),
  );
  const label = (text) => h("li", {}, h("a", { class: "chip", dir: "auto", href: link(["search"], { label: text }) }, text));
  return [
    document.labels.length ? h("ul", { class: "chips", "aria-label": "Labels" }, document.labels.map(label)) : null,
    h("dl", { class: "fields" }, pairs),
  ];
}

function similar(document, name) {
  if (!document.similar.length) return null;
  const entry = ({ id, title, similarity }) =>
    h(
      "li",
      {},
      h("a", { dir: "auto", href: link(["documents", id]) }, title),
      h("span", { class: "meter", "aria-hidden": true, vars: { "--part": Math.max(similarity, 0) } }),
      h("span", { class: "aside" }, similarity.toFixed(2)),
    );
  return panel(
    { title: "Similar documents", name: `${name}-similar`, rows: () => document.similar },
    h("ul", { class: "related" }, document.similar.map(entry)),
  );
}
