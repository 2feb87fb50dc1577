import type { ComponentChildren } from "preact";
import { count } from "../../../../events/format/door.ts";
import { callState } from "../../../model/call-state.ts";
import type { CallItem } from "../../../model/exchange-items.ts";
import { errorOf, errorText, receivedError, type SpanError } from "../../../model/failures.ts";
import type { RunModel } from "../../../model/run-model.ts";
import { isWaiting } from "../../../model/story-words.ts";
import { Text } from "../../shell/text.tsx";
import { SpanErrorView } from "../span-error.tsx";
import { Code } from "../value.tsx";
import { Attempts } from "./attempts.tsx";
import { DecisionLine } from "./decision-line.tsx";
import { Fold, type ItemProps, ToTimeline } from "./parts.tsx";

/** Longer inputs and results are folded. In UTF-16 units. */
const SHORT = 400;
/** Longest JSON on one line. */
const ONE_LINE = 80;

/** A tool call: the decision about it, its input, its sub-agents, and its result or error. */
export function ToolCall({
  children,
  item,
  model,
  query,
}: ItemProps<CallItem> & { readonly children: ComponentChildren }) {
  const { asker, attempts, decision, input, node, received, result, tool, waits } = item;
  const error = errorIn(item, model);
  const { run } = model.detail;
  const state = callState(item, run);
  // A sub-agent may wait while the run around it works.
  const isOwn = asker.span.run_id === run.run_id;
  const hasWaited = run.resumed === true || (isOwn && !isWaiting(run));
  const isFailed = node?.span.failed === true;
  const output = result ?? (error === undefined ? received : undefined);
  return (
    <>
      {decision !== undefined && (
        <p class="talk-line waits">
          <DecisionLine decision={decision} tool={tool} />
        </p>
      )}
      <div class={isFailed ? "talk-card failed" : "talk-card"}>
        <p class="talk-head">
          <i aria-hidden="true" class="kind tool">
            T
          </i>
          <span class="talk-name">
            <span class="visually-hidden">tool call </span>
            <Text limit={80} value={tool === "" ? "Result of an unknown call" : tool} />
          </span>
          {state !== "" && <span class="muted">{state}</span>}
          {waits === true && (
            <span class="talk-state">{hasWaited ? "needed a decision" : "needs a decision"}</span>
          )}
          <ToTimeline model={model} node={node ?? asker} query={query} />
        </p>
        <Attempts texts={attempts.map(({ span }) => errorText(span))} />
        {input !== undefined && <Value name="Input" text={input} />}
        {children}
        {output !== undefined && <Value name="Result" text={output} />}
        {error !== undefined && <SpanErrorView error={error} />}
      </div>
    </>
  );
}

/** The error of a failed call. What the model received is in the history of its next call. */
function errorIn({ node, received }: CallItem, model: RunModel): SpanError | undefined {
  const error = node && errorOf(node.span, model.rows.get(node));
  return error && receivedError(error, received);
}

/** A short value with its name, or a long one to open. */
function Value({ name, text: full }: { readonly name: string; readonly text: string }) {
  const text = onOneLine(full);
  if (text.length > SHORT) {
    return (
      <Fold
        summary={
          <>
            {name} <span class="muted">{count(text.length)} characters</span>
          </>
        }
      >
        <Code text={text} />
      </Fold>
    );
  }
  return (
    <div class="talk-value">
      <span class="muted">{name}</span>
      <Code text={text} />
    </div>
  );
}

/** Short JSON on one line: as it comes, it has a line for each field. */
function onOneLine(text: string): string {
  if (!INDENTED.test(text) || text.length > 2 * ONE_LINE) return text;
  // Line breaks in a string of JSON are escapes.
  const line = text.replace(/\n */g, " ");
  return line.length > ONE_LINE ? text : line;
}

const INDENTED = /^[[{]\n {2}/;
