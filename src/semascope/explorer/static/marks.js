// Texts with marked words. Positions count characters as Python does, not UTF-16 code units.

import { h } from "./dom.js";

/** text.slice by whole characters. */
export function slicer(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (start, end) => text.slice(start, end);
  const characters = Array.from(text);
  return (start, end) => characters.slice(start, end).join("");
}

/** The text cut at the sorted `spans`; `mark(span, words)` creates the element of each. */
export function cut(text, spans, mark) {
  const slice = slicer(text);
  const parts = [];
  let at = 0;
  for (const span of spans) {
    if (span.start < at) continue; // overlaps the previous mark
    parts.push(slice(at, span.start), mark(span, slice(span.start, span.end)));
    at = span.end;
  }
  parts.push(slice(at, undefined));
  return parts.filter((part) => part !== "");
}

/** A passage with its marks; `kind` tells words of the query from related words. */
export function passage({ text, marks }, attributes) {
  const mark = ({ kind }, words) => h("mark", { class: kind === "related" ? "related" : null }, words);
  return h(
    "p",
    { class: "passage", dir: "auto", ...attributes },
    cut(
      text,
      [...marks].sort((a, b) => a.start - b.start),
      mark,
    ),
  );
}
