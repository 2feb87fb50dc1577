/** A part of the OpenTelemetry API that one owner in a process registers. */
export type ApiPart = "diag" | "trace" | "metrics" | "context" | "propagation";

/**
 * The key under which all 1.x copies of the API store their registrations. The API has no function for it.
 */
const API_KEY = Symbol.for("opentelemetry.js.api.1");

/** Whether that part of the API is registered in this process. */
export function isRegistered(part: ApiPart): boolean {
  return inApi(part) !== undefined;
}

/** The version of the copy of the API that registered first. Newer copies do not use what an older one registered. */
export function registeredVersion(): string {
  return String(inApi("version"));
}

function inApi(name: string): unknown {
  const api: unknown = Reflect.get(globalThis, API_KEY);
  return typeof api === "object" && api !== null ? Reflect.get(api, name) : undefined;
}
