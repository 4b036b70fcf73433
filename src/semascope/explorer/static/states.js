// Placeholder views: loading, empty and failed, each with a remedy.

import { h } from "./dom.js";

export const loading = (text = "Loading…") =>
  h("p", { class: "waiting", role: "status" }, h("span", { class: "dots", "aria-hidden": true }), text);

export const empty = (text, ...more) => h("div", { class: "empty" }, h("p", {}, text), more);

export const failure = (problem, again) =>
  h(
    "div",
    { class: "empty failure", role: "alert" },
    h("p", {}, problem.message),
    again && h("button", { type: "button", on: { click: again } }, "Try again"),
    h("p", {}, h("a", { href: "#/" }, "Back to the start")),
  );

export const notFound = () => empty("Page not found.", h("p", {}, h("a", { href: "#/" }, "Back to the start")));
