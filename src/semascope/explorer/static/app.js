// Entry point: navigation, theme, keyboard shortcuts, and the view of the address.

import { get } from "./api.js";
import { h, show } from "./dom.js";
import { sentence, several } from "./format.js";
import { go, link, parse } from "./router.js";
import { failure, loading, notFound } from "./states.js";
import { themeButton } from "./theme.js";
import { documentView } from "./document.js";
import { documentsView } from "./documents.js";
import { inferView } from "./infer.js";
import { liveView } from "./live.js";
import { searchView } from "./search.js";
import { topicView } from "./topic.js";
import { topicsView } from "./topics.js";

const main = document.getElementById("main");
let leaving = new AbortController();

/** The view of an address, or undefined. Views of a single item have its number or id after the name. */
function chosen([name, one]) {
  const whole = {
    topics: topicsView,
    labels: topicsView,
    documents: documentsView,
    search: searchView,
    try: inferView,
    live: liveView,
  };
  const single = { topics: topicView, labels: topicView, documents: documentView };
  return (one === undefined ? whole : single)[name];
}

async function open() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { path, query } = parse(location.hash);
  const waiting = setTimeout(() => show(main, loading()), 250);
  try {
    const about = await get("about", null, signal);
    frame(about, path[0] ?? "topics");
    const name = path.length ? path : [about.kind];
    const view = chosen(name);
    const made = view ? await view({ about, path: name, query, signal }) : { title: "Not found", node: notFound() };
    if (!signal.aborted) put(made, about);
  } catch (error) {
    if (!signal.aborted) show(main, failure(error, open));
  } finally {
    clearTimeout(waiting);
  }
}

function put({ title, node, focus }, about) {
  document.title = `${title} · ${about.title} · semascope`;
  show(main, node.querySelector("h1") ? null : h("h1", { class: "unseen" }, title), node);
  if (focus) focus.focus();
  else if (document.activeElement === document.body || !document.activeElement?.isConnected)
    main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function frame(about, here) {
  const entries = [
    about.kind === "labels" ? ["labels", "Labels"] : ["topics", "Topics"],
    ["documents", "Documents"],
    ["search", "Search"],
    ["try", "Try a text"],
    ...(about.learns || about.model === "OnlineLabeledLDA" ? [["live", "Live"]] : []),
  ];
  const present = here === "topics" || here === "labels" ? about.kind : here;
  const entry = ([name, text]) => h("a", { href: link([name]), "aria-current": name === present ? "page" : null }, text);
  const nav = show(document.getElementById("nav"), entries.map(entry));
  const { offsetLeft, offsetWidth } = nav.querySelector("[aria-current]") ?? nav;
  nav.scrollLeft = offsetLeft + offsetWidth - nav.clientWidth; // on a phone the current entry may be out of sight
  const sizes = [several(about.topics, about.kind === "labels" ? "label" : "topic"), several(about.documents, "document")];
  const facts = about.learns ? [about.model] : [about.model, ...sizes]; // while it learns, only the live view is up to date
  show(document.getElementById("model"), h("strong", {}, about.title), ` ${facts.join(" · ")}`);
  show(document.getElementById("notice"), about.problem ? h("p", { class: "notice" }, sentence(about.problem)) : null);
}

/** "/" starts a search from anywhere, except while typing. */
function keys(event) {
  const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const box = document.getElementById("query");
  if (box) box.select();
  else go(["search"]);
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the part after "#" is the address of the view
  main.focus();
});
themeButton(document.getElementById("theme"));
window.addEventListener("hashchange", open);
window.addEventListener("keydown", keys);
open();
