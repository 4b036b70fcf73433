// A link to a document: its title, and its id if it is not just a number.

import { h } from "./dom.js";
import { link } from "./router.js";

export const documentLink = ({ id, title }) =>
  h(
    "span",
    {},
    h("a", { class: "name", dir: "auto", href: link(["documents", id]) }, title),
    id !== title && !/^\d+$/.test(id) && h("span", { class: "id" }, id),
  );
