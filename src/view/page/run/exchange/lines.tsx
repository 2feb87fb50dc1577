import { durationText } from "../../../../events/format/door.ts";
import type { RetrievalItem, WaitItem } from "../../../model/exchange-items.ts";
import { indentedJson } from "../../../model/json-text.ts";
import type { SpanNode } from "../../../model/span-tree.ts";
import { shortName } from "../../../model/span-words.ts";
import { Text } from "../../shell/text.tsx";
import { Code } from "../value.tsx";
import { Fold, type ItemProps, ToTimeline } from "./parts.tsx";

/** A pause: how long it was, or what the run asks. */
export function Wait({ item, model, query }: ItemProps<WaitItem>) {
  const { asked, ms, node } = item;
  const { asked: question, run_id } = model.detail.run;
  const isOwn = ({ span }: SpanNode) => span.kind === "run" && span.run_id === run_id;
  // The question of the run is that of its last segment.
  const text = node === model.tree.nodes.findLast(isOwn) ? question : undefined;
  return (
    <div class="talk-line waits">
      <span>
        {ms === undefined ? "Paused for a person" : `Paused for ${durationText(ms)}`}
        {ms === undefined && text !== undefined && (
          <>
            : <Text limit={300} value={text} />
          </>
        )}
      </span>
      <ToTimeline model={model} node={node} query={query} />
      {asked !== undefined && (
        <Fold summary="What the run asks">
          <Code text={indentedJson(asked) ?? asked} />
        </Fold>
      )}
    </div>
  );
}

/** What a retrieval looked for, and what it found. */
export function Retrieval({ item, model, query }: ItemProps<RetrievalItem>) {
  const { documents, node } = item;
  return (
    <div class="talk-card">
      <p class="talk-head">
        <span>
          Retrieval <Text limit={80} value={shortName(node.span)} />
          {item.query !== undefined && (
            <>
              : <Text limit={300} value={item.query} />
            </>
          )}
        </span>
        <ToTimeline model={model} node={node} query={query} />
      </p>
      {documents !== undefined && (
        <Fold summary="Documents found">
          <Code text={indentedJson(documents) ?? documents} />
        </Fold>
      )}
    </div>
  );
}
