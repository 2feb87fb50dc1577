import type { ReadableSpan } from "@opentelemetry/sdk-trace";

/**
 * Approximate memory of a JSON value in bytes, for memory limits. It can be much more than the text: an empty
 * object takes 20 times its text.
 */
export function roughBytes(value: unknown): number {
  if (typeof value === "string") return 24 + value.length;
  // An integer can have 10,000 digits.
  if (typeof value === "bigint") return 4_096;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 64;
  if (Array.isArray(value)) {
    for (const item of value) bytes += 8 + roughBytes(item);
    return bytes;
  }
  for (const [name, field] of Object.entries(value)) bytes += 24 + name.length + roughBytes(field);
  return bytes;
}

/** Approximate memory of an ended span in bytes. */
export function roughSpanBytes({ attributes, events, links, name, status }: ReadableSpan): number {
  return roughBytes([name, status, attributes, events, links]);
}
