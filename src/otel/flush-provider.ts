import type { TracerProvider } from "@opentelemetry/api";

/** Asks a tracer provider, or the one behind a global proxy, to send what it holds, where it can. */
export async function flushProvider(provider: TracerProvider): Promise<void> {
  const target = delegateOf(provider);
  if (hasForceFlush(target)) await target.forceFlush();
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
