import { useEffect, useState } from "preact/hooks";

/** What the page shows: the list, or a run; `query` has the filters of the list, or the selected span. */
export interface Route {
  readonly run: string | undefined;
  readonly query: URLSearchParams;
}

/** The route in the address behind `#`: `#/?outcome=failed`, `#/run/KEY?span=ID`. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const onChange = () => setRoute(currentRoute());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

export function listAddress(query = new URLSearchParams()): string {
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

function currentRoute(): Route {
  const [path = "", query = ""] = location.hash.slice(1).split("?", 2);
  const [, key] = /^\/run\/(.+)$/.exec(path) ?? [];
  return { run: key === undefined ? undefined : decoded(key), query: new URLSearchParams(query) };
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
