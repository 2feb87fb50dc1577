import type { ErrorItem } from "../../../model/exchange-items.ts";
import { errorOf } from "../../../model/failures.ts";
import { shortName } from "../../../model/span-words.ts";
import { Text } from "../../shell/text.tsx";
import { SpanErrorView } from "../span-error.tsx";
import { Attempts } from "./attempts.tsx";
import { type ItemProps, ToTimeline } from "./parts.tsx";

/** A failed model call, run or step; the attempts before it are folded. */
export function Failure({ item, model, query }: ItemProps<ErrorItem>) {
  const { attempts, isRetried, node } = item;
  const name = shortName(node.span);
  const before = isRetried ? attempts : attempts.slice(0, -1);
  if (isRetried) {
    return (
      <div class="talk-line">
        <Attempts texts={before} />
        <ToTimeline model={model} node={node} query={query} />
      </div>
    );
  }
  const error = errorOf(node.span, model.rows.get(node) ?? []);
  return (
    <div class="talk-card failed">
      <p class="talk-head">
        <span class="talk-name">
          <Text limit={80} value={name} /> failed
        </span>
        <ToTimeline model={model} node={node} query={query} />
      </p>
      <Attempts texts={before} />
      {error !== undefined && <SpanErrorView error={error} />}
    </div>
  );
}
