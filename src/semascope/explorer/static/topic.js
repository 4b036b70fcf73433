// One topic or label: its words, documents, periods, related topics and languages.

import { get } from "./api.js";
import { documentLink } from "./documentlink.js";
import { h } from "./dom.js";
import { count, percent, several, spokenLanguage, title } from "./format.js";
import { figure, panel } from "./figure.js";
import { line } from "./line.js";
import { passage } from "./marks.js";
import { spoken, when } from "./periods.js";
import { nameOf } from "./rename.js";
import { link } from "./router.js";
import { empty } from "./states.js";
import { wordsOf } from "./words.js";

export async function topicView({ about, path, query, signal }) {
  const number = path[1];
  const relevance = within(query.relevance, 0, 1, 0.6);
  const language = about.languages.includes(query.language) ? query.language : null;
  const [{ topics }, topic] = await Promise.all([
    get("topics", null, signal),
    get(`topics/${encodeURIComponent(number)}`, { relevance, n: 20, language }, signal),
  ]);
  const place = topics.findIndex((entry) => entry.topic === topic.topic);
  const entry = {
    documents: 0,
    words: topic.words.map((word) => word.word),
    ...topics[place],
    ...{ named: topic.named, name: topic.name },
  };
  const titles = new Map(topics.map((other) => [other.topic, title(other)]));
  const name = `${about.title}-${about.kind === "labels" ? "label" : "topic"}-${topic.topic}`;
  const node = h(
    "article",
    { class: "topic" },
    head(about, topics, place, entry, topic),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        wordsOf({ about, topic, relevance, language, name, signal }),
        overTime(topic, name),
        languages(topic, name),
      ),
      h("div", {}, typical(about, topic, name), related(about, topic, titles, name)),
    ),
  );
  return { title: title(entry), node };
}

const within = (text, low, high, otherwise) =>
  text !== undefined && Number(text) >= low && Number(text) <= high ? Number(text) : otherwise;

function head(about, topics, place, entry, topic) {
  const step = (to, sign, words) => {
    const other = topics[to];
    const attributes = other && {
      href: link([about.kind, String(other.topic)]),
      class: "step",
      title: `${words}: ${title(other)}`,
      "aria-label": `${words}: ${title(other)}`,
    };
    return other ? h("a", attributes, sign) : h("span", { class: "step off", "aria-hidden": true }, sign);
  };
  const facts = [
    `${about.kind === "labels" ? "label" : "topic"} ${topic.topic}`,
    `${percent(topic.share)} of all words`,
    about.kind === "labels"
      ? `${several(entry.documents, "document")} with it`
      : `largest of ${several(entry.documents, "document")}`,
  ];
  return h(
    "header",
    { class: "topic-head" },
    h(
      "nav",
      { class: "steps", "aria-label": "By share" },
      step(place - 1, "←", "Larger"),
      step(place + 1, "→", "Smaller"),
      h("a", { href: link([about.kind]) }, `All ${about.kind}`),
    ),
    nameOf(entry, about),
    h("p", { class: "facts" }, facts.join(" · ")),
  );
}

function typical(about, topic, name) {
  const rows = () =>
    topic.documents.map(({ id, title: words, share, passage: { text } }) => ({ id, title: words, share, passage: text }));
  const entry = (document) =>
    h(
      "li",
      {},
      documentLink(document),
      h("span", { class: "aside" }, percent(document.share)),
      document.passage.text && passage(document.passage),
    );
  const all = h("p", {}, h("a", { href: link(["documents"], { topic: topic.topic }) }, "All its documents"));
  const none = about.has_corpus ? "No document has a large share of it." : "The documents are not available.";
  const list = topic.documents.length ? [h("ol", { class: "results" }, topic.documents.map(entry)), all] : empty(none);
  return panel({ title: "Typical documents", name: `${name}-documents`, rows: topic.documents.length ? rows : null }, list);
}

function overTime(topic, name) {
  const periods = topic.over_time;
  if (periods.length < 2) return null;
  const points = periods.map(({ period, share, documents }) => ({
    x: when(period),
    y: share,
    text: `${spoken(period)}: ${percent(share)} of ${several(documents, "document")}`,
  }));
  const xTicks = periods.map(({ period }) => ({ x: when(period), text: spoken(period) }));
  const { element } = figure({
    title: "Share over time",
    name: `${name}-over-time`,
    draw: (width) =>
      line(points, width, {
        label: `Share from ${spoken(periods[0].period)} to ${spoken(periods.at(-1).period)}`,
        xTicks,
        yText: (tick) => `${Number((tick * 100).toPrecision(3))} %`,
      }),
    rows: () => periods,
  });
  return element;
}

function related(about, topic, titles, name) {
  if (!topic.related.length) return null;
  const rows = topic.related.map((other) => ({ ...other, name: titles.get(other.topic) ?? other.name }));
  const entry = (other) =>
    h(
      "li",
      {},
      h("a", { href: link([about.kind, String(other.topic)]) }, other.name),
      h("span", { class: "meter", "aria-hidden": true, vars: { "--part": Math.max(other.similarity, 0) } }),
      h("span", { class: "aside" }, other.similarity.toFixed(2)),
    );
  return panel(
    { title: `Related ${about.kind}`, name: `${name}-related`, rows: () => rows },
    h("ul", { class: "related" }, rows.map(entry)),
  );
}

function languages(topic, name) {
  const codes = Object.keys(topic.languages);
  if (codes.length < 2) return null;
  const longest = Math.max(...codes.map((code) => topic.languages[code].length));
  const ranks = Array.from({ length: longest }, (_, i) => i);
  const shown = ranks.slice(0, 15);
  const rows = () => ranks.map((i) => Object.fromEntries(codes.map((code) => [code, topic.languages[code][i] ?? ""])));
  const table = h(
    "table",
    { class: "side-by-side" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        codes.map((code) => h("th", { scope: "col" }, spokenLanguage(code))),
      ),
    ),
    h(
      "tbody",
      {},
      shown.map((i) =>
        h(
          "tr",
          {},
          codes.map((code) => h("td", { lang: code, dir: "auto" }, topic.languages[code][i] ?? "")),
        ),
      ),
    ),
  );
  return panel(
    { title: `In ${count(codes.length)} languages`, name: `${name}-languages`, rows },
    h("div", { class: "scrolls", tabindex: 0, role: "group", "aria-label": "Words by language" }, table),
  );
}
