import { useLayoutEffect, useState } from "preact/hooks";

/** The list or a run. `query` has the filters of the list, or the selected span. */
export interface Route {
  readonly run: string | undefined;
  readonly query: URLSearchParams;
}

/** The route in the address behind `#`: `#/?outcome=failed`, `#/run/KEY?span=ID`. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  // In a layout effect: a change before the first paint would be missed.
  useLayoutEffect(() => {
    const onChange = () => setRoute(currentRoute());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

/** Filters of the last list, for the link back from a run. */
let lastList = new URLSearchParams();

/** Address of the list. Default: with the filters that it had last. */
export function listAddress(query = lastList): string {
  return `#/${withQuery(query)}`;
}

export function runAddress(key: string, query = new URLSearchParams()): string {
  return `#/run/${encodeURIComponent(key)}${withQuery(query)}`;
}

/** Replaces the query without a new entry in the history. */
export function replaceQuery(query: URLSearchParams): void {
  const { run } = currentRoute();
  const address = run === undefined ? listAddress(query) : runAddress(run, query);
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Opens a run, unless the address says already what to show. */
export function openOnlyRun(key: string | undefined): void {
  if (key !== undefined && location.hash === "") history.replaceState(null, "", runAddress(key));
}

function currentRoute(): Route {
  const [path = "", text = ""] = location.hash.slice(1).split("?", 2);
  const [, key] = /^\/run\/(.+)$/.exec(path) ?? [];
  const query = new URLSearchParams(text);
  if (key === undefined) lastList = query;
  return { run: key === undefined ? undefined : decoded(key), query };
}

/** A typed address may be invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withQuery(query: URLSearchParams): string {
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
