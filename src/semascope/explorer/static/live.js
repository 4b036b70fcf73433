// Progress of a stream: number of documents, perplexity and new labels.

import { get } from "./api.js";
import { h, show } from "./dom.js";
import { count, percent } from "./format.js";
import { figure, panel } from "./figure.js";
import { line, nice } from "./line.js";
import { link } from "./router.js";
import { empty } from "./states.js";

const EVERY = 2000;

export async function liveView({ about, signal }) {
  if (about.model !== "OnlineLabeledLDA") {
    return {
      title: "Live",
      node: empty(
        "This model does not learn from a stream.",
        h("p", {}, "Train one with `semascope stream MODEL`, and open it with `semascope explore MODEL`."),
      ),
    };
  }
  let stream = await get("stream", null, signal);
  const numbers = h("dl", { class: "figures" });
  const labels = h("div", { class: "columns" });
  const chart = figure({
    title: "Perplexity",
    name: `${about.title}-perplexity`,
    draw: (width) => curve(stream.recent, width),
    rows: () => stream.recent,
    note: "Perplexity of documents before learning them; lower is better.",
  });
  const says = h("p", { class: "problem", role: "alert" });
  const update = () => {
    show(numbers, facts(stream));
    show(labels, heaviest(stream, about), fresh(stream));
    chart.element.hidden = stream.recent.length < 2;
    chart.redraw();
  };
  const poll = async () => {
    if (!document.hidden) {
      try {
        stream = await get("stream", null, signal);
        says.textContent = "";
        update();
      } catch (error) {
        if (signal.aborted) return;
        says.textContent = error.message;
      }
    }
    if (!signal.aborted) setTimeout(poll, EVERY);
  };
  update();
  setTimeout(poll, EVERY);
  const how = stream.learns
    ? null
    : h(
        "p",
        { class: "faint" },
        "Showing the saved model. Start the explorer with --learn to train it through /api/stream.",
      );
  return { title: "Live", node: h("div", { class: "live" }, h("h1", {}, "Live"), how, says, numbers, chart.element, labels) };
}

function facts(stream) {
  const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return [
    fact("documents", count(stream.documents)),
    fact("labels", count(stream.labels)),
    fact("perplexity", stream.perplexity === null ? "–" : count(Math.round(stream.perplexity))),
    stream.learns && fact("documents a second", count(Math.round(stream.documents_per_second))),
  ];
}

function curve(recent, width) {
  const points = recent.map(({ documents, perplexity }) => ({
    x: documents,
    y: perplexity,
    text: `${count(Math.round(perplexity))} after ${count(documents)}`,
  }));
  const [first, last] = [points[0].x, points.at(-1).x];
  const xTicks = nice(first, last, 5)
    .filter((x) => x >= first && x <= last)
    .map((x) => ({ x, text: count(x) }));
  return line(points, width, { label: "Perplexity by number of documents", xTicks, yText: count, zero: false });
}

function heaviest(stream, about) {
  if (!stream.heaviest.length)
    return panel(
      { title: "Labels" },
      empty(
        "No label has been learned yet.",
        h("p", {}, "Send labeled documents to /api/stream or to `semascope stream`."),
      ),
    );
  const largest = Math.max(...stream.heaviest.map((label) => label.share), 1e-12);
  const row = ({ label, share, words }) =>
    h(
      "tr",
      {},
      h(
        "td",
        {},
        h("a", { class: "name", dir: "auto", href: link(["labels"], { find: label }) }, label),
        h("span", { class: "words" }, words.join(" ")),
      ),
      h(
        "td",
        { class: "number" },
        percent(share),
        h("span", { class: "meter", "aria-hidden": true, vars: { "--part": share / largest } }),
      ),
    );
  const head = h("tr", {}, h("th", { scope: "col" }, "Label"), h("th", { scope: "col", class: "number" }, "Share"));
  return panel(
    { title: "Largest labels", name: `${about.title}-heaviest`, rows: () => stream.heaviest },
    h("table", { class: "list" }, h("thead", {}, head), h("tbody", {}, stream.heaviest.map(row))),
  );
}

function fresh(stream) {
  const chips = stream.new_labels.map((label) =>
    h("li", {}, h("a", { class: "chip", dir: "auto", href: link(["labels"], { find: label }) }, label)),
  );
  return panel(
    { title: "New labels" },
    chips.length ? h("ul", { class: "chips", "aria-live": "polite" }, chips) : h("p", { class: "faint" }, "None recently."),
  );
}
