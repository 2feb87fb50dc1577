import { parseExact } from "../../../../src/entries/events.ts";
import { isJsonObject, type LineEnvelope } from "../../../../src/replay/dialects/dialect.ts";
import { graphDialect } from "../../../../src/replay/dialects/graph/graph-dialect.ts";
import type { GraphLine } from "../../../../src/replay/dialects/graph/graph-line.ts";
import { GraphMapping } from "../../../../src/replay/dialects/graph/graph-mapping.ts";
import type { Translated } from "../../../../src/replay/dialects/mapping.ts";
import { replayDialect } from "../../../support/replay-dialect.ts";

/** A decoded line, ready for the mapping. */
export interface Taken {
  readonly event: GraphLine;
  readonly envelope: LineEnvelope;
}

/** Decodes lines that are all events. */
export function decoded(lines: readonly string[]): Taken[] {
  return lines.flatMap((text) => {
    const value = parseExact(text);
    if (!isJsonObject(value)) throw new TypeError(`no object: ${text}`);
    const result = graphDialect.decode(value);
    if (result.outcome === "skipped") return [];
    if (result.outcome !== "event") throw new TypeError(`${result.outcome}: ${text}`);
    return [{ event: result.event, envelope: result.envelope }];
  });
}

/** What the mapping makes of lines, in their order. */
export function translated(lines: readonly string[], rows?: boolean): Translated[] {
  const mapping = new GraphMapping("default", rows);
  const all = decoded(lines).map(({ envelope, event }) => mapping.translate(event, envelope));
  return [...all, ...mapping.end()];
}

/** Replays lines as the command does, up to the spans. */
export function replayed(lines: readonly string[]) {
  return replayDialect(graphDialect, new GraphMapping("default"), lines);
}
