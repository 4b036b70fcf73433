// Try a text: infer its topics or labels, and those of its words.

import { post } from "./api.js";
import { bars } from "./bars.js";
import { colored } from "./colored.js";
import { h, show } from "./dom.js";
import { percent, several, spokenLanguage } from "./format.js";
import { figure, panel } from "./figure.js";
import { titled, titles } from "./names.js";
import { empty, failure, loading } from "./states.js";

let kept = ""; // the text survives a change of view, but not a reload

export async function inferView({ about, signal }) {
  const names = await titles(signal);
  const area = h("textarea", {
    id: "given",
    rows: 6,
    maxlength: 200000,
    dir: "auto",
    placeholder: "Paste a text…",
    "aria-label": "A text",
    value: kept,
  });
  const option = (code) => h("option", { value: code }, spokenLanguage(code));
  const select =
    about.languages.length > 1
      ? h("select", { "aria-label": "Language of the text" }, about.languages.map(option))
      : null;
  const answer = h("div", { "aria-live": "polite" });
  const form = h(
    "form",
    {},
    area,
    h(
      "div",
      { class: "controls" },
      h("button", { type: "submit", class: "primary" }, `Infer ${about.kind}`),
      select,
      h("span", { class: "faint wide-only" }, "Ctrl + Enter"),
    ),
  );
  const ask = async () => {
    kept = area.value;
    if (!kept.trim()) {
      show(answer, empty("Enter a text first."));
      return;
    }
    show(answer, loading("Inferring…"));
    try {
      const found = await post("infer", { text: kept, language: select?.value || null }, signal);
      show(answer, results(found, kept, about, names));
    } catch (error) {
      if (!signal.aborted) show(answer, failure(error));
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
  });
  const node = h("div", { class: "try" }, h("h1", {}, "Try a text"), form, answer);
  return { title: "Try a text", node, focus: area };
}

function results(found, text, about, names) {
  if (!found.known_words)
    return empty(
      "No word of the text is in the vocabulary.",
      h("p", {}, "Try a longer text, or one in the language of the documents."),
    );
  const topics = titled(found.topics, names);
  const { mixture, reading } = colored({
    topics,
    texts: [{ language: "", text, words: found.words }],
    about,
    name: `${about.title}-text`,
  });
  return h(
    "div",
    { class: "columns reading-columns" },
    h(
      "div",
      {},
      panel(
        {
          title: `${several(found.known_words, "word")} in the vocabulary`,
          name: `${about.title}-text-words`,
          rows: () => found.words,
        },
        reading,
      ),
    ),
    h("div", {}, found.labels.length ? likely(found.labels, about) : null, topics.length ? mixture : null),
  );
}

function likely(labels, about) {
  const shown = labels.slice(0, 12);
  const row = ({ label, probability, predicted }) => ({
    label,
    value: probability,
    text: percent(probability),
    class: predicted ? "" : "pale",
  });
  const { element } = figure({
    title: "Likely labels",
    name: `${about.title}-text-labels`,
    draw: (width) => bars(shown.map(row), width, "Probabilities of labels"),
    rows: () => labels,
    note: "Filled bars: predicted labels. Pale bars: the next most likely.",
  });
  element.classList.add("sum");
  return element;
}
