import { type Document, isMap, isScalar, isSeq, type Scalar, visit } from "yaml";
import { divideDuration, parseDuration } from "./duration.ts";
import { scaleQuery } from "./scale-query.ts";

/** Keys whose value is a duration, in rules, prometheus.yml and alertmanager.yml. */
const DURATIONS = new Set([
  "for",
  "keep_firing_for",
  "query_offset",
  "interval",
  "scrape_interval",
  "scrape_timeout",
  "evaluation_interval",
  "timeout",
  "resolve_timeout",
  "group_wait",
  "group_interval",
  "repeat_interval",
]);

/** Keys under which people write: nothing there is a setting. */
const PROSE = new Set(["labels", "annotations"]);

/**
 * Divides every duration of a document by one factor, and edits nothing else: so that the shipped
 * rules, `for` clauses, windows, offsets, waits and intervals keep their proportions and a test need
 * not wait for minutes.
 *
 * @throws RangeError when a duration does not divide, or stands at a key that is not known here: it
 *   must not stay as it is unnoticed.
 */
export function scaleDurations(document: Document, factor: number): void {
  visit(document, {
    Pair(_, pair) {
      if (!isScalar(pair.key)) return undefined;
      const key = String(pair.key.value);
      if (PROSE.has(key)) return visit.SKIP;
      const { value } = pair;
      if (isScalar(value)) scaleScalar(key, value, factor);
      if (isSeq(value)) {
        for (const item of value.items) if (isScalar(item)) scaleScalar(key, item, factor);
      }
      if (value !== null && !isScalar(value) && !isSeq(value) && !isMap(value)) {
        throw new RangeError(`${key}: expected no alias`);
      }
      return undefined;
    },
  });
}

function scaleScalar(key: string, scalar: Scalar, factor: number): void {
  const { value } = scalar;
  if (key === "expr") scalar.value = scaleQuery(String(value), factor);
  else if (typeof value !== "string") return;
  else if (DURATIONS.has(key)) scalar.value = divideDuration(value, factor);
  else if (parseDuration(value) !== undefined) {
    throw new RangeError(`${key}: ${value} looks like a duration, and the key is not known`);
  }
}
