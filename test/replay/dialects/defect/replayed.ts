import { stringifyExact } from "../../../../src/entries/events.ts";
import {
  decodeDefect,
  defectDialect,
} from "../../../../src/replay/dialects/defect/defect-dialect.ts";
import {
  DefectMapping,
  type DefectMappingOptions,
} from "../../../../src/replay/dialects/defect/defect-mapping.ts";
import type { DefectEvent } from "../../../../src/replay/dialects/defect/events.ts";
import type { JsonObject, LineEnvelope } from "../../../../src/replay/dialects/dialect.ts";
import type { Translated } from "../../../../src/replay/dialects/mapping.ts";
import { replayDialect } from "../../../support/replay-dialect.ts";
import type { SpanNode } from "../../../support/spans.ts";

/** A decoded line, ready for the mapping. */
export interface Taken {
  readonly event: DefectEvent;
  readonly envelope: LineEnvelope;
}

/** Decodes lines that are all events. */
export function decoded(lines: readonly JsonObject[]): Taken[] {
  return lines.map((line) => {
    const result = decodeDefect(line);
    if (result.outcome !== "event") throw new TypeError(JSON.stringify(result));
    return { event: result.event, envelope: result.envelope };
  });
}

/** What the mapping makes of lines, in their order; its end included. */
export function translated(lines: readonly JsonObject[], options?: DefectMappingOptions) {
  const mapping = new DefectMapping(options);
  const steps: Translated[] = decoded(lines).map(({ envelope, event }) =>
    mapping.translate(event, envelope),
  );
  const all = [...steps, ...mapping.end()];
  return {
    mapping,
    steps,
    signals: all.flatMap(({ signals }) => signals),
    rows: all.flatMap(({ rows, threadId }) => rows.map((row) => ({ ...row, threadId }))),
  };
}

/** Replays lines as the command does, up to the spans. */
export async function replayed(lines: readonly JsonObject[]) {
  const texts = lines.map((line) => stringifyExact(line));
  const result = await replayDialect(defectDialect, new DefectMapping(), texts);
  return { ...result, trees: byStart(result.trees, [...result.started.keys()]) };
}

/** Many spans of real sessions start in the same millisecond: then the one opened first comes first. */
function byStart(trees: readonly SpanNode[], opened: readonly string[]): SpanNode[] {
  const place = ({ span_id, trace }: SpanNode) => opened.indexOf(`${trace}/${span_id}`);
  return [...trees]
    .sort((a, b) => (a.start === b.start ? place(a) - place(b) : 0))
    .map((node) => ({ ...node, children: byStart(node.children, opened) }));
}
