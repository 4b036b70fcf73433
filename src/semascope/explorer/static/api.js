// Requests to the server. Every error becomes a Problem with a one-sentence message.

import { sentence } from "./format.js";

export class Problem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export const get = (path, query, signal) => request(path + search(query), { signal });
export const put = (path, body) => request(path, sending("PUT", body));
export const post = (path, body, signal) => request(path, { ...sending("POST", body), signal });

/** Query string "?a=1&b=x" of the non-empty values. */
export function search(query) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function sending(method, body) {
  return { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not respond. Is `semascope explore` still running?", 0);
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(sentence(body?.error) ?? `The server responded with status ${answer.status}.`, answer.status);
  return body;
}
