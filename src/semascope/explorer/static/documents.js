// Paginated documents, optionally of one topic.

import { get } from "./api.js";
import { documentLink } from "./documentlink.js";
import { h } from "./dom.js";
import { count, percent, title } from "./format.js";
import { panel } from "./figure.js";
import { go, link } from "./router.js";
import { empty } from "./states.js";

const LIMIT = 25;

export async function documentsView({ about, query, signal }) {
  if (!about.has_corpus)
    return {
      title: "Documents",
      node: empty("The documents of this model are not available.", h("p", {}, "See the notice above for the remedy.")),
    };
  const offset = Math.max(Math.floor(Number(query.offset)) || 0, 0);
  const [{ topics }, page] = await Promise.all([
    get("topics", null, signal),
    get("documents", { topic: query.topic, offset, limit: LIMIT }, signal),
  ]);
  const names = new Map(topics.map((topic) => [topic.topic, title(topic)]));
  const rows = () =>
    page.documents.map(({ id, title: words, share, topics: of }) => ({
      id,
      title: words,
      share,
      topics: of.map((topic) => `${names.get(topic.topic)} ${percent(topic.share)}`).join("; "),
    }));
  const list = page.documents.length ? table(page.documents, names, about, query.topic) : empty(`No document has this ${about.kind === "labels" ? "label" : "topic"}.`);
  const heading = `${count(page.total)} document${page.total === 1 ? "" : "s"}`;
  const node = h(
    "div",
    { class: "documents" },
    h("h1", { class: "unseen" }, "Documents"),
    panel(
      { title: heading, name: `${about.title}-documents`, rows },
      choice(topics, about, query.topic),
      list,
      pages(page.total, offset, query.topic),
    ),
  );
  return { title: "Documents", node };
}

function choice(topics, about, chosen) {
  const one = about.kind === "labels" ? "label" : "topic";
  const option = (value, text) => h("option", { value, selected: value === (chosen ?? "") }, text);
  const sorted = [...topics].sort((a, b) => title(a).localeCompare(title(b)));
  const select = h(
    "select",
    { id: "of-topic" },
    option("", `any ${one}`),
    sorted.map((topic) => option(String(topic.topic), title(topic))),
  );
  select.addEventListener("change", () => go(["documents"], { topic: select.value }));
  return h(
    "div",
    { class: "controls" },
    h("label", { for: "of-topic" }, about.kind === "labels" ? "with the label" : "of the topic"),
    select,
  );
}

function table(documents, names, about, topic) {
  const asked = topic !== undefined && topic !== "";
  const others = (of) => of.filter((each) => String(each.topic) !== topic && each.share >= 0.02).slice(0, 3);
  const chips = (of) =>
    others(of).map(({ topic: number, share }) =>
      h(
        "a",
        { class: "chip", href: link([about.kind, String(number)]) },
        names.get(number) ?? number,
        h("span", { class: "faint" }, ` ${percent(share)}`),
      ),
    );
  const row = ({ id, title: words, share, topics }) =>
    h(
      "tr",
      {},
      h("td", {}, documentLink({ id, title: words })),
      asked &&
        h(
          "td",
          { class: "number" },
          share === null ? "" : percent(share),
          share !== null && h("span", { class: "meter", "aria-hidden": true, vars: { "--part": share } }),
        ),
      h("td", { class: "chips-cell wide-only" }, chips(topics)),
    );
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Document"),
    asked && h("th", { scope: "col", class: "number" }, "Share"),
    h("th", { scope: "col", class: "wide-only" }, `${asked ? "Other " : ""}${about.kind}`),
  );
  return h("table", { class: "list" }, h("thead", {}, head), h("tbody", {}, documents.map(row)));
}

function pages(total, offset, topic) {
  if (total <= LIMIT && offset === 0) return null;
  const step = (to, text) =>
    to >= 0 && to < total
      ? h("a", { class: "button", href: link(["documents"], { topic, offset: to || null }) }, text)
      : h("span");
  const last = Math.min(offset + LIMIT, total);
  return h(
    "nav",
    { class: "pages", "aria-label": "Pages" },
    step(offset === 0 ? -1 : Math.max(offset - LIMIT, 0), "← Previous"),
    h("span", {}, `${count(offset + 1)}–${count(last)} of ${count(total)}`),
    step(offset + LIMIT, "Next →"),
  );
}
