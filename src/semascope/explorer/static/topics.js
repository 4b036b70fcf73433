// All topics: the map, and a sortable and filterable list.

import { get } from "./api.js";
import { h, show } from "./dom.js";
import { count, hasName, percent, title } from "./format.js";
import { figure, panel } from "./figure.js";
import { drawMap, fade, makeTip } from "./map.js";
import { link, remember } from "./router.js";
import { empty } from "./states.js";

const AT_ONCE = 200;

const ORDERS = {
  share: (a, b) => b.share - a.share,
  documents: (a, b) => b.documents - a.documents,
  name: (a, b) => title(a).localeCompare(title(b)),
  number: (a, b) => a.topic - b.topic,
};

export async function topicsView({ about, query, signal }) {
  const { topics } = await get("topics", null, signal);
  const many = about.kind === "labels" ? "Labels" : "Topics";
  if (!topics.length)
    return {
      title: many,
      node: empty("This model has no labels yet.", h("p", {}, "They appear once it learns labeled documents.")),
    };
  const address = (topic) => link([about.kind, String(topic.topic)]);
  let found = null;
  const map = mapOf(topics, about, address, () => found);
  const list = listOf(topics, about, address, query, (matches) => {
    found = matches;
    fade(map.querySelector("svg"), found);
  });
  return { title: many, node: h("div", { class: "topics" }, h("h1", { class: "unseen" }, many), map, list) };
}

/** `found()` returns the numbers of matching topics, or null for all. */
function mapOf(topics, about, address, found) {
  const one = about.kind === "labels" ? "label" : "topic";
  // The background is so large that labels would be dots beside it.
  const drawn =
    about.kind === "labels" && topics.some((topic) => topic.named) ? topics.filter((topic) => topic.named) : topics;
  const left = drawn.length < topics.length ? " The background is omitted." : "";
  const tip = makeTip(() => element.querySelector(".drawing"));
  const label = `Map of ${about.kind}. Use the arrow keys to move, Enter to open.`;
  const { element } = figure({
    title: `Map of ${about.kind}`,
    name: `${about.title}-map`,
    draw: (width) => fade(drawMap(drawn, width, { label, address, tip }), found()),
    rows: () =>
      topics.map(({ topic, name, share, documents, x, y, words }) => ({ topic, name, share, documents, x, y, words })),
    note: `Nearby circles have similar words; the area is the ${one}’s share of all words.${left}`,
  });
  element.classList.add("map-figure");
  element.querySelector(".drawing").after(tip.box);
  return element;
}

function listOf(topics, about, address, query, onFilter) {
  const one = about.kind === "labels" ? "label" : "topic";
  const state = { sort: query.sort in ORDERS ? query.sort : "share", find: query.find ?? "", shown: AT_ONCE };
  const body = h("tbody");
  const head = h("tr");
  const more = h("button", {
    type: "button",
    on: {
      click: () => {
        state.shown += AT_ONCE;
        update();
      },
    },
  });
  const nothing = h("p", { class: "faint" });
  const largest = Math.max(...topics.map((topic) => topic.share), 1e-12);
  const chosen = () => topics.filter((topic) => matching(topic, state.find)).sort(ORDERS[state.sort]);
  const column = (key, text, kind) => {
    const button = h(
      "button",
      {
        type: "button",
        class: "sort",
        on: {
          click: () => {
            state.sort = key;
            update();
          },
        },
      },
      text,
    );
    return h(
      "th",
      { scope: "col", class: kind, "aria-sort": state.sort === key ? (key === "name" ? "ascending" : "descending") : null },
      button,
    );
  };
  const update = () => {
    const found = chosen();
    show(
      head,
      column("name", one === "label" ? "Label" : "Topic"),
      column("share", "Share", "number"),
      column("documents", "Documents", "number wide-only"),
    );
    show(
      body,
      found.slice(0, state.shown).map((topic) => row(topic, address(topic), largest)),
    );
    more.hidden = found.length <= state.shown;
    more.textContent = `Show ${count(Math.min(AT_ONCE, found.length - state.shown))} more of ${count(found.length)}`;
    nothing.hidden = found.length > 0;
    nothing.textContent = `No ${one} has “${state.find}” in its name or first words.`;
    remember({ sort: state.sort === "share" ? null : state.sort, find: state.find });
    onFilter(state.find ? new Set(found.map((topic) => topic.topic)) : null);
  };
  const filter = h("input", {
    type: "search",
    class: "find",
    placeholder: `Find a ${one} by name or word`,
    "aria-label": `Find a ${one}`,
    value: state.find,
    maxlength: 100,
  });
  filter.addEventListener("input", () => {
    state.find = filter.value;
    update();
  });
  const rows = () => chosen().map(({ topic, name, share, documents, words }) => ({ topic, name, share, documents, words }));
  update();
  const table = h("table", { class: "list" }, h("thead", {}, head), body);
  return panel(
    { title: `${count(topics.length)} ${about.kind}`, name: `${about.title}-${about.kind}`, rows },
    filter,
    table,
    nothing,
    more,
  );
}

const matching = (topic, find) => {
  const wanted = find.trim().toLowerCase();
  return !wanted || [topic.name, ...topic.words].some((word) => word.toLowerCase().includes(wanted));
};

function row(topic, href, largest) {
  const words = hasName(topic) ? topic.words.slice(0, 8) : topic.words.slice(3);
  return h(
    "tr",
    {},
    h("td", {}, h("a", { href, class: "name" }, title(topic)), h("span", { class: "words" }, words.join(" "))),
    h(
      "td",
      { class: "number" },
      percent(topic.share),
      h("span", { class: "meter", "aria-hidden": true, vars: { "--part": topic.share / largest } }),
    ),
    h("td", { class: "number wide-only" }, count(topic.documents)),
  );
}
