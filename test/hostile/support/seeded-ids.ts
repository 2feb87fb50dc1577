import type { Random } from "../../support/random.ts";

/** A UUID of version 7 that follows from the numbers: the same events come again with the same seed. */
export function seededUuid(random: Random): string {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => random.below(16).toString(16)).join("");
  const variant = (8 + random.below(4)).toString(16);
  return `01a${hex(5)}-${hex(4)}-7${hex(3)}-${variant}${hex(3)}-${hex(12)}`;
}
