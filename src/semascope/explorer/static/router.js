// Views are addressed by the part after "#", so links to views can be shared: #/topics/12?relevance=0.3

import { search } from "./api.js";

/** {path: ["topics", "12"], query: {relevance: "0.3"}} of a hash. */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray %
  }
}

/** "#/documents/a%2Fb?x=1" from parts and a query. */
export const link = (parts, query) => `#/${parts.map(encodeURIComponent).join("/")}${search(query)}`;

/** Store the settings of the current view in its address, without a history entry. */
export function remember(settings) {
  const { path, query } = parse(location.hash);
  history.replaceState(null, "", link(path, { ...query, ...settings }));
}

export const go = (parts, query) => {
  location.hash = link(parts, query);
};
