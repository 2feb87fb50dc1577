import { count } from "../../../events/format/door.ts";
import type { ViewFailure } from "../../format.ts";
import type { RunHead } from "../../run-parts.ts";
import { useFeed } from "../feed.ts";
import { Badge } from "../shell/badge.tsx";
import { Text } from "../shell/text.tsx";
import { Story } from "./story.tsx";

export interface RunBeginProps {
  readonly runKey: string;
  /** `undefined` until the server has answered. The list may have the run before. */
  readonly head: RunHead | undefined;
  /** Spans that were read. */
  readonly spans: number;
}

/** A run while its spans are read: its story, its first failure, and how far reading is. */
export function RunBegin({ head, runKey, spans }: RunBeginProps) {
  const listed = useFeed().run(runKey);
  const run = head?.run ?? listed;
  const all = head?.span_count ?? listed?.spans ?? 0;
  return (
    <header class="run-header">
      {run !== undefined && (
        <>
          <div class="row">
            <h1>
              <Text limit={120} value={run.agent ?? "Agent without a name"} />
            </h1>
            <Badge outcome={run.outcome} />
          </div>
          <Story run={run} />
        </>
      )}
      {head?.first_failure !== undefined && <FirstFailure failure={head.first_failure} />}
      <p class="row" role="status">
        Reading the run …
      </p>
      {all > 0 && (
        <p class="row">
          <progress aria-label="Spans that were read" max={all} value={Math.min(spans, all)} />
          <span class="muted">
            {count(Math.min(spans, all))} of {count(all)} spans
          </span>
        </p>
      )}
    </header>
  );
}

function FirstFailure({ failure }: { readonly failure: ViewFailure }) {
  const { message, name } = failure;
  return (
    <p class="note bad">
      First failure: <Text value={name} />
      {message !== undefined && (
        <>
          : <Text value={message} />
        </>
      )}
    </p>
  );
}
