import { useLayoutEffect, useState } from "preact/hooks";

/** What the page shows: the list, or a run; `query` has the filters of the list, or the selected span. */
export interface Route {
  readonly run: string | undefined;
  readonly query: URLSearchParams;
}

/** The route in the address behind `#`: `#/?outcome=failed`, `#/run/KEY?span=ID`. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  // At once, not after the first painting: a change before that would not be seen.
  useLayoutEffect(() => {
    const onChange = () => setRoute(currentRoute());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

/** Filters of the list that was shown last: the way back from a run leads to it. */
let lastList = new URLSearchParams();

/** Address of the list. Default: with the filters that it had last. */
export function listAddress(query = lastList): string {
  return `#/${withQuery(query)}`;
}

export function runAddress(key: string, query = new URLSearchParams()): string {
  return `#/run/${encodeURIComponent(key)}${withQuery(query)}`;
}

/** Changes the query in place: no step back leads to what was there before. */
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

/** An address that somebody typed may be damaged. */
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
