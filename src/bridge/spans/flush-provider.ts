import type { TracerProvider } from "@opentelemetry/api";

/**
 * Asks a tracer provider, or the one behind a global proxy, to send what it holds, where it can.
 *
 * @throws (rejects) what the provider rejects with; where that is a list, as with the SDK, the error in
 *   it, or an AggregateError of several.
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

/** A list has no message: whoever logs that of an error would log `undefined`. */
function oneOf(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  return new AggregateError(errors, `flush failed: ${errors.map(String).join("; ")}`);
}

function delegateOf(provider: unknown): unknown {
  return typeof provider === "object" &&
    provider !== null &&
    "getDelegate" in provider &&
    typeof provider.getDelegate === "function"
    ? provider.getDelegate()
    : provider;
}

function hasForceFlush(value: unknown): value is { forceFlush(): Promise<void> } {
  return (
    typeof value === "object" &&
    value !== null &&
    "forceFlush" in value &&
    typeof value.forceFlush === "function"
  );
}
