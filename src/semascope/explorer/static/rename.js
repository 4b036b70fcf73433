// Editable name of a topic: Enter saves, Esc cancels.

import { put } from "./api.js";
import { h, show } from "./dom.js";
import { title } from "./format.js";

/** Heading with the name of `topic`, with a rename button if the model allows. */
export function nameOf(topic, about) {
  const place = h("div", { class: "naming" });
  const rest = () => {
    const words = title(topic);
    const heading = h("h1", { dir: "auto" }, words);
    const change = h(
      "button",
      { type: "button", class: "quiet rename", title: "Rename", "aria-label": `Rename ${words}`, on: { click: edit } },
      "✎",
    );
    show(place, heading, about.can_rename && change);
    return change;
  };
  const edit = () => {
    const input = h("input", {
      type: "text",
      maxlength: 200,
      "aria-label": "Name of the topic",
      placeholder: title({ ...topic, named: false }),
      value: topic.named ? topic.name : "",
    });
    const problem = h("p", { role: "alert", class: "problem" });
    const form = h(
      "form",
      { class: "rename-form" },
      input,
      h("button", { type: "submit" }, "Keep"),
      h("button", { type: "button", class: "quiet", on: { click: () => rest().focus() } }, "Leave"),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const { name, named } = await put(`topics/${topic.topic}/name`, { name: input.value.trim() || null });
        Object.assign(topic, { name, named });
        document.title = document.title.replace(/^[^·]*/, () => `${title(topic)} `); // a name may contain $
        rest().focus();
      } catch (error) {
        problem.textContent = error.message;
      }
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") rest().focus();
    });
    show(place, form, problem);
    input.select();
  };
  rest();
  return place;
}
