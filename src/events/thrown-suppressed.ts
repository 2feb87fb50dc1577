import { hasName } from "./thrown-name.ts";
import { property } from "./thrown-property.ts";

const NAMES = new Set(["SuppressedError"]);

/**
 * What a SuppressedError came of, which `using` makes when cleaning up fails too: the error that the
 * work ended with. `undefined` for anything else.
 */
export function suppressedIn(thrown: unknown): unknown {
  return hasName(thrown, NAMES) ? property(thrown, "suppressed") : undefined;
}
