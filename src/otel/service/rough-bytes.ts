/** The most that is kept of one kind of thing before more is taken, in bytes: 64 MiB. */
export const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Roughly how many bytes of memory a value takes that came of JSON, for bounds on what is kept. What a
 * line says in few characters may take many: an empty object takes 20 times its text.
 */
export function roughBytes(value: unknown): number {
  if (typeof value === "string") return 24 + value.length;
  // Of the 10,000 digits that an integer may have.
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
