import document from "../../../docs/openapi.json" with { type: "json" };

/** The committed OpenAPI document. A test compares it with the routes, refusals and limits of the code. */
export const OPENAPI_TEXT = `${JSON.stringify(document, null, 2)}\n`;

/** The paths and their methods. */
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

/** Splits a request's target. `undefined` if it is not a path or URL. */
export function readTarget(
  target: string,
): { readonly path: string; readonly query: URLSearchParams } | undefined {
  // The URL class would read a host after `//`.
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

/** Whether a `Host` header names this machine, with or without a port. */
export function isLocalHost(host: string | undefined): boolean {
  return host !== undefined && LOCAL.test(host.replace(/:\d*$/, ""));
}

/** Whether only this machine can reach a listening address. */
export function isLoopback(address: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(address);
}
