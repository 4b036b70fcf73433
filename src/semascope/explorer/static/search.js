// Search box, and results with marked passages and explanations.

import { get } from "./api.js";
import { documentLink } from "./documentlink.js";
import { h, show } from "./dom.js";
import { percent, several, spokenLanguage } from "./format.js";
import { panel } from "./figure.js";
import { passage } from "./marks.js";
import { titles } from "./names.js";
import { go, link } from "./router.js";
import { empty, failure, loading } from "./states.js";

const WAYS = {
  hybrid: ["Hybrid", "Words and meaning together"],
  bm25: ["Words", "Words in common, rare ones first (BM25)"],
  lsa: ["Meaning", "Latent semantic analysis: also finds documents without the exact words"],
  lda: ["Topics", "Likelihood of the query, given the topics of a document"],
  cosine: ["Cosine", "Cosine similarity of word vectors"],
  kl: ["Divergence", "Divergence of the query's words from those of a document's topics"],
  fisher: ["Fisher kernel", "Documents with a similar gradient of the likelihood"],
};

export async function searchView({ about, query, signal }) {
  if (about.can_search === "no")
    return {
      title: "Search",
      node: empty("No documents to search.", h("p", {}, "Start the explorer with --corpus or --index to enable search.")),
    };
  const names = await titles(signal);
  const results = h("div", { class: "found", "aria-live": "polite" });
  const { form, box } = formOf(about, query);
  if (query.q || query.like) find({ about, query, names, results, signal });
  else show(results, tips(about));
  return {
    title: query.q || "Search",
    node: h("div", { class: "search" }, h("h1", { class: "unseen" }, "Search"), form, results),
    focus: query.q || query.like ? null : box,
  };
}

function formOf(about, query) {
  const box = h("input", {
    type: "search",
    id: "query",
    name: "q",
    maxlength: 1000,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Words, a question, a whole sentence…",
    "aria-label": "Search the documents",
    value: query.q ?? "",
  });
  const by = about.ways.includes(query.by) ? query.by : about.ways[0];
  const way = (name) => {
    const radio = h("input", { type: "radio", name: "by", value: name, checked: name === by });
    radio.addEventListener("change", () => submit());
    return h("label", { title: WAYS[name]?.[1] ?? null }, radio, h("span", {}, WAYS[name]?.[0] ?? name));
  };
  const submit = (changes) => {
    const { q, by: chosen, language } = { ...Object.fromEntries(new FormData(form)), ...changes };
    const like = q ? null : query.like;
    go(["search"], { q, by: chosen === about.ways[0] ? null : chosen, language, label: query.label, like, ...changes });
  };
  const only =
    query.label &&
    h(
      "button",
      {
        type: "button",
        class: "chip on",
        "aria-label": `Search beyond the label ${query.label}`,
        on: { click: () => submit({ label: null }) },
      },
      `label: ${query.label} ×`,
    );
  const form = h(
    "form",
    { role: "search", class: "search-form" },
    h("div", { class: "search-line" }, box, h("button", { type: "submit", class: "primary" }, "Search")),
    h(
      "div",
      { class: "controls" },
      h("fieldset", { class: "ways" }, h("legend", { class: "unseen" }, "Similarity"), inOrder(about.ways).map(way)),
      about.languages.length > 1 && languageChoice(about, query, submit),
      only,
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return { form, box };
}

const inOrder = (ways) => [
  ...Object.keys(WAYS).filter((name) => ways.includes(name)),
  ...ways.filter((name) => !(name in WAYS)),
];

function languageChoice(about, query, submit) {
  const option = (code) =>
    h("option", { value: code, selected: code === (query.language ?? "") }, code ? spokenLanguage(code) : "Any language");
  const select = h(
    "select",
    { name: "language", "aria-label": "Language of the query" },
    ["", ...about.languages].map(option),
  );
  select.addEventListener("change", () => submit());
  return select;
}

function tips(about) {
  const ready =
    about.can_search === "preparing"
      ? "The index is being prepared; the search starts once it is ready."
      : "Press / anywhere to search.";
  return h("p", { class: "faint centered" }, ready);
}

/** While the index is being prepared, retry until it is ready or the view changes. */
async function find({ about, query, names, results, signal }) {
  show(results, loading("Searching…"));
  try {
    const found = await get("search", { k: 20, by: about.ways[0], ...query }, signal);
    if (found.state === "preparing") {
      show(results, loading("The index is being prepared. Results appear once it is ready."));
      setTimeout(() => signal.aborted || find({ about, query, names, results, signal }), 1500);
      return;
    }
    if (!about.ways.length) {
      window.dispatchEvent(new Event("hashchange")); // the index is ready, and its similarities are known
      return;
    }
    show(results, hits(found, about, query, names));
  } catch (error) {
    if (!signal.aborted)
      show(
        results,
        failure(error, () => find({ about, query, names, results, signal })),
      );
  }
}

function hits(found, about, query, names) {
  if (!found.hits.length) {
    const advice = about.ways.length > 1 ? "Try another similarity, or other words." : "Try other words.";
    return empty(
      query.label ? `No results among documents with the label ${query.label}.` : "No results.",
      h("p", {}, advice),
    );
  }
  const rows = () =>
    found.hits.map(({ id, title, score, snippet, why }) => ({
      id,
      title,
      score,
      snippet: snippet.text,
      words: why.words,
      topics: why.topics.map((topic) => names.get(topic.topic) ?? topic.name).join("; "),
    }));
  const heading = query.q ? several(found.hits.length, "document") : `Similar to ${query.like}`;
  const top = Math.max(...found.hits.map((hit) => hit.score));
  return panel(
    { title: heading, name: `${about.title}-search`, rows },
    h(
      "ol",
      { class: "results" },
      found.hits.map((hit) => entry(hit, about, names, top)),
    ),
  );
}

function entry({ id, title, score, snippet, why }, about, names, top) {
  const word = (text) => h("mark", {}, text);
  const topic = ({ topic: number, name, share }) =>
    h(
      "a",
      { class: "chip", href: link([about.kind, String(number)]) },
      names.get(number) ?? name,
      h("span", { class: "faint" }, ` ${percent(share)}`),
    );
  const reasons = [
    why.words.length
      ? h(
          "span",
          {},
          "words ",
          why.words.slice(0, 8).map((text) => [word(text), " "]),
        )
      : null,
    why.topics.length
      ? h(
          "span",
          {},
          `${about.kind} `,
          why.topics.slice(0, 3).map((each) => [topic(each), " "]),
        )
      : null,
  ].filter(Boolean);
  return h(
    "li",
    {},
    documentLink({ id, title }),
    h(
      "span",
      { class: "aside", title: "Score" },
      score.toFixed(2),
      h("span", { class: "meter", "aria-hidden": true, vars: { "--part": top > 0 ? Math.max(score, 0) / top : 0 } }),
    ),
    snippet.text && passage(snippet),
    h(
      "p",
      { class: "why" },
      reasons.length ? ["In common: ", reasons] : null,
      h("a", { href: link(["search"], { like: id }) }, "Similar documents"),
    ),
  );
}
