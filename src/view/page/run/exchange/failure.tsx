import { counted } from "../../../../events/format/door.ts";
import type { ErrorItem } from "../../../model/exchange-items.ts";
import { errorOf } from "../../../model/failures.ts";
import { shortName } from "../../../model/span-words.ts";
import { LinkText, Text } from "../../shell/text.tsx";
import { SpanErrorView } from "../span-error.tsx";
import { Fold, type ItemProps, ToTimeline } from "./parts.tsx";

/** A failed model call, run or step; the attempts before it are folded. */
export function Failure({ item, model, query }: ItemProps<ErrorItem>) {
  const { attempts, isRetried, node } = item;
  const name = shortName(node.span);
  const before = isRetried ? attempts : attempts.slice(0, -1);
  const [first] = before[0]?.split("\n", 1) ?? [];
  const retries = before.length > 0 && (
    <Fold
      summary={
        <>
          {counted(before.length, "retry", "retries")}
          {first !== undefined && (
            <>
              : <LinkText limit={120} value={first} />
            </>
          )}
        </>
      }
    >
      <ol class="talk-attempts">
        {before.map((text, at) => (
          <li key={at}>
            {text === undefined ? (
              "The source has no text."
            ) : (
              <Text limit={1000} lines value={text} />
            )}
          </li>
        ))}
      </ol>
    </Fold>
  );
  if (isRetried) {
    return (
      <div class="talk-line">
        {retries}
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
      {retries}
      {error !== undefined && <SpanErrorView error={error} />}
    </div>
  );
}
