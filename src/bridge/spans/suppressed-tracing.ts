import { type Context, createContextKey, ROOT_CONTEXT } from "@opentelemetry/api";

/** The SDK's own key, for which the API has none: its name is what makes it the same key. */
const KEY = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");

/** Where no instrumentation makes spans: for requests of our own, whose span would make another one. */
export const UNTRACED: Context = ROOT_CONTEXT.setValue(KEY, true);

/** Whether somebody asked for no spans in this context. */
export function isTracingSuppressed(active: Context): boolean {
  return active !== ROOT_CONTEXT && active.getValue(KEY) === true;
}
