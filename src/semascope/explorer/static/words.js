// Words of a topic as bars, with a slider between frequent and distinctive.

import { get } from "./api.js";
import { bars } from "./bars.js";
import { h } from "./dom.js";
import { percent, spokenLanguage } from "./format.js";
import { figure } from "./figure.js";
import { remember } from "./router.js";

/** Relevance is λ log P(w|t) + (1 − λ) log P(w|t)/P(w), after Sievert and Shirley (2014). */
export function wordsOf({ about, topic, relevance, language, name, signal }) {
  const state = { words: topic.words, relevance, language };
  let asked = 0;
  const update = async () => {
    const ours = ++asked; // discard responses to outdated requests
    const { words } = await get(
      `topics/${topic.topic}`,
      { relevance: state.relevance, n: 20, language: state.language },
      signal,
    );
    if (ours !== asked) return;
    state.words = words;
    remember({ relevance: state.relevance === 0.6 ? null : state.relevance, language: state.language });
    redraw();
  };
  const safely = () =>
    update().catch((error) => {
      if (!signal.aborted) says.textContent = error.message;
    });
  const says = h("p", { class: "problem", role: "alert" });
  const controls = h(
    "div",
    { class: "controls" },
    slider(state, safely),
    about.languages.length > 1 && languageChoice(about, state, safely),
    says,
  );
  const label = about.kind === "labels" ? "label" : "topic";
  const { element, redraw } = figure({
    title: "Words",
    name: `${name}-words`,
    draw: (width) => bars(state.words.map(bar), width, `The most relevant words of the ${label} and their probabilities`),
    rows: () => state.words,
    controls,
    note: `Bars: probability in this ${label}; on the right, how many times more likely than overall.`,
  });
  return element;
}

const bar = ({ word, probability, lift }) => ({
  label: word,
  value: probability,
  text: percent(probability),
  more: `${lift >= 9.95 ? Math.round(lift) : lift.toFixed(1)}×`,
});

function slider(state, update) {
  const input = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.05,
    value: state.relevance,
    id: "relevance",
    "aria-valuetext": said(state.relevance),
  });
  const number = h("output", { for: "relevance" }, `λ ${state.relevance.toFixed(2)}`);
  let later;
  input.addEventListener("input", () => {
    state.relevance = Number(input.value);
    number.textContent = `λ ${state.relevance.toFixed(2)}`;
    input.setAttribute("aria-valuetext", said(state.relevance));
    clearTimeout(later);
    later = setTimeout(update, 80);
  });
  return h(
    "div",
    { class: "slider" },
    h("label", { for: "relevance" }, "distinctive"),
    input,
    h("span", { "aria-hidden": true }, "frequent"),
    number,
  );
}

const said = (relevance) => `${relevance.toFixed(2)}, from distinctive at 0 to frequent at 1`;

function languageChoice(about, state, update) {
  const shown = state.language ?? about.languages[0];
  const option = (code) => h("option", { value: code, selected: code === shown }, spokenLanguage(code));
  const select = h("select", { "aria-label": "Language of the words" }, about.languages.map(option));
  select.addEventListener("change", () => {
    state.language = select.value;
    update();
  });
  return select;
}
