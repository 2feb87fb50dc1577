import { parseExact } from "../../../../src/entries/events.ts";
import { isJsonObject, type JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { readLines } from "../../../support/golden.ts";

/** One event of each of the 19 kinds, as upstream wrote it. */
export const GRAPH_EVENT_KINDS: readonly (readonly [string, JsonObject])[] = [
  ...new Map(
    readLines("golden/entelix_graph_events.jsonl").map((text) => {
      const line = parseExact(text);
      if (!isJsonObject(line) || !isJsonObject(line.graph_event)) throw new TypeError(text);
      return [String(line.graph_event.kind), line.graph_event] as const;
    }),
  ),
];
