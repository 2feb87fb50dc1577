import type { TracerProvider } from "@opentelemetry/api";
import { delegateOf } from "./provider-state.ts";

/**
 * Flushes a tracer provider, or the one behind a global proxy, if it supports that.
 *
 * @throws (rejects) with the provider's error. The SDK rejects with a list: its only error, or an AggregateError
 *   of several.
 */
export async function flushProvider(provider: TracerProvider): Promise<void> {
  const target = delegateOf(provider);
  if (!hasForceFlush(target)) return;
  try {
    await target.forceFlush();
  } catch (error) {
    throw Array.isArray(error) ? oneOf(error) : error;
  }
}

/** A list has no `message` that could be logged. */
function oneOf(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  return new AggregateError(errors, `flush failed: ${errors.map(String).join("; ")}`);
}

function hasForceFlush(value: unknown): value is { forceFlush(): Promise<void> } {
  return (
    typeof value === "object" &&
    value !== null &&
    "forceFlush" in value &&
    typeof value.forceFlush === "function"
  );
}
