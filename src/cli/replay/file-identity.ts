import type { BigIntStats } from "node:fs";

/**
 * What tells a file from every other, whatever names lead to it: its device and its number there.
 * `undefined` for what has no content of its own to destroy: a terminal, `/dev/null`.
 */
export function identityOf(found: BigIntStats): string | undefined {
  return found.isCharacterDevice() ? undefined : `${found.dev}:${found.ino}`;
}
