// Titles of topics, by number.

import { get } from "./api.js";
import { title } from "./format.js";

/** Map from number to title. */
export async function titles(signal) {
  const { topics } = await get("topics", null, signal);
  return new Map(topics.map((topic) => [topic.topic, title(topic)]));
}

/** Topics with titles, largest first. */
export const titled = (topics, names) =>
  topics
    .map((topic) => ({ ...topic, title: names.get(topic.topic) ?? topic.name ?? String(topic.topic) }))
    .sort((a, b) => b.share - a.share);
