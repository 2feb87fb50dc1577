import { FOLLOW_WAIT_MS } from "../../../src/cli/replay/replay-job.ts";
import { DEEPEST_ATTRIBUTE, MAX_REQUEST_BYTES } from "../../../src/cli/traces/otlp-spans.ts";

/** The limits of this room as its code has them, by their rows in `docs/limits.md`. */
export const CLI_FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  "wait of an event of a file that grows": () => FOLLOW_WAIT_MS,
  "bytes of a line of spans": () => MAX_REQUEST_BYTES,
  "levels of an attribute in a span file": () => DEEPEST_ATTRIBUTE,
};
