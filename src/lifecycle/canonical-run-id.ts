import { isUuid } from "./run-ids.ts";

/**
 * A run id in the form it is kept in: the letters of a UUID in lower case. What programs without types
 * have in place of a text stays as it is.
 */
export function canonicalRunId(runId: string): string {
  return CAPITAL.test(runId) && isUuid(runId) ? runId.toLowerCase() : runId;
}

const CAPITAL = /[A-F]/;
