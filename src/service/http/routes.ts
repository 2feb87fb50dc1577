import document from "../../../docs/openapi.json" with { type: "json" };

/** The committed OpenAPI document. A test holds it to the routes, refusals and limits of the code. */
export const OPENAPI_TEXT = `${JSON.stringify(document, null, 2)}\n`;

/** What the service answers, and by which methods. */
export const ROUTES = {
  "/v1/events": ["POST"],
  "/v1/runs": ["GET", "HEAD"],
  "/healthz": ["GET", "HEAD"],
  "/readyz": ["GET", "HEAD"],
  "/metrics": ["GET", "HEAD"],
  "/openapi.json": ["GET", "HEAD"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Route = keyof typeof ROUTES;

export function isRoute(path: string): path is Route {
  return Object.hasOwn(ROUTES, path);
}

/** A request's target, split; `undefined` when it is no path. */
export function readTarget(
  target: string,
): { readonly path: string; readonly query: URLSearchParams } | undefined {
  // Not the URL class for a plain path: it would take what stands after // for a host.
  if (target.startsWith("/")) {
    const mark = target.indexOf("?");
    if (mark === -1) return { path: target, query: new URLSearchParams() };
    return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
  }
  if (!/^https?:/i.test(target) || !URL.canParse(target)) return undefined;
  const { pathname, searchParams } = new URL(target);
  return { path: pathname, query: searchParams };
}

const LOCAL =
  /^(?:localhost|(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:127(?:\.\d{1,3}){3}\])$/i;

/** Whether a `Host` header names this machine. Without a port, or with any. */
export function isLocalHost(host: string | undefined): boolean {
  return host !== undefined && LOCAL.test(host.replace(/:\d*$/, ""));
}

/** Whether only this machine can reach an address that is listened on. */
export function isLoopback(address: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(address);
}
