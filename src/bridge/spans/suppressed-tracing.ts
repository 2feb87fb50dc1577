import { type Context, createContextKey, ROOT_CONTEXT } from "@opentelemetry/api";

/** The SDK's key, which is the same by its name. The API has no function for it. */
const KEY = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");

/** A context without spans of instrumentations. For the exporter's requests, whose spans would cause new requests. */
export const UNTRACED: Context = ROOT_CONTEXT.setValue(KEY, true);

/** Whether spans are suppressed in this context. */
export function isTracingSuppressed(active: Context): boolean {
  return active !== ROOT_CONTEXT && active.getValue(KEY) === true;
}
