import { counted } from "../../../events/format/door.ts";
import type { SpanKindName } from "../../format.ts";
import type { RunModel } from "../../model/run-model.ts";
import { kindWords, SPAN_KINDS } from "../../model/span-words.ts";

interface LegendProps {
  readonly model: RunModel;
  /** Waits are drawn shorter than they were. */
  readonly isCut: boolean;
}

/** Meaning of the letters and patterns of bars, with counts. */
export function Legend({ isCut, model }: LegendProps) {
  const counts = new Map<SpanKindName, number>();
  for (const { span } of model.tree.nodes) counts.set(span.kind, (counts.get(span.kind) ?? 0) + 1);
  // A run that paused has a span for each segment.
  if (counts.has("run")) {
    counts.set("run", model.lanes.filter(({ nodes }) => nodes.has("run")).length);
  }
  return (
    <ul aria-label="Kinds of spans" class="legend row">
      {SPAN_KINDS.map((kind) => {
        const number = counts.get(kind) ?? 0;
        const { letter, plural, word } = kindWords(kind);
        if (number === 0) return null;
        return (
          <li class="row" key={kind}>
            <i aria-hidden="true" class={`kind ${kind}`}>
              {letter}
            </i>
            <i aria-hidden="true" class={`bar ${kind}`} />
            {counted(number, word, plural)}
          </li>
        );
      })}
      {model.waits.size > 0 && (
        <li class="row">
          <i aria-hidden="true" class="bar wait" />
          waiting for people{isCut && ", drawn shorter"}
        </li>
      )}
    </ul>
  );
}
