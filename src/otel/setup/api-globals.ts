/** A part of the OpenTelemetry API that one owner in a process registers. */
export type ApiPart = "diag" | "trace" | "metrics" | "context" | "propagation";

/**
 * Where every 1.x copy of the API keeps what is registered; the copies agree on this key. The API
 * itself has no call that tells.
 */
const API_KEY = Symbol.for("opentelemetry.js.api.1");

/** Whether anybody in this process has registered that part of the API. */
export function isRegistered(part: ApiPart): boolean {
  const api: unknown = Reflect.get(globalThis, API_KEY);
  return typeof api === "object" && api !== null && Reflect.get(api, part) !== undefined;
}
