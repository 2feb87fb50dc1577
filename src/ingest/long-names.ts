import { type DecodeIssue, isJsonObject, type JsonObject } from "../dialects/dialect.ts";
import type { JsonValue } from "../events/exact-json.ts";
import { MOST_NAME } from "../events/value-limits.ts";

/** What the dialects call their ids and names, by the last word; nothing that is content. */
const NAME =
  /(?:^|_)(?:account|agent|checkpoint|class|from|id|key|kind|model|name|nickname|path|provider|tier|to|tool|traceparent|tracestate|type|version)$/;

/** Objects that hold names of the event. */
const INSIDE: ReadonlySet<string> = new Set(["envelope", "event", "fields", "inner", "kind"]);

/**
 * The ids and names of a line that are too long. They are kept while runs are open, and some of them
 * long after: their number is bounded, and so must be what each takes.
 */
export function longNames(line: JsonObject, path = ""): DecodeIssue[] {
  const issues: DecodeIssue[] = [];
  for (const [name, value] of Object.entries(line)) {
    const field = path + name;
    if (INSIDE.has(name) && isJsonObject(value)) issues.push(...longNames(value, `${field}.`));
    else if (NAME.test(name) && lengthOf(value) > MOST_NAME) {
      issues.push({ field, expected: "at most 4,096 characters" });
    }
  }
  return issues;
}

/** Of a list, that of its names together. */
function lengthOf(value: JsonValue): number {
  if (typeof value === "string") return value.length;
  if (!Array.isArray(value)) return 0;
  return value.reduce<number>((sum, item) => sum + (typeof item === "string" ? item.length : 0), 0);
}
