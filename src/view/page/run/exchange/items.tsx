import { useState } from "preact/hooks";
import { count, counted, durationText } from "../../../../events/format/door.ts";
import type { Exchange, ExchangeItem, RunItem } from "../../../model/exchange-items.ts";
import { MOST_PRINTED } from "../../../model/list-limits.ts";
import { failedText, outcomeOf, shortName } from "../../../model/span-words.ts";
import { Badge } from "../../shell/badge.tsx";
import { LinkText, Text } from "../../shell/text.tsx";
import { usePrinting } from "../../shell/use-printing.ts";
import { Code } from "../value.tsx";
import { DecisionLine } from "./decision-line.tsx";
import { Failure } from "./failure.tsx";
import { Retrieval, Wait } from "./lines.tsx";
import { Message } from "./message.tsx";
import { Fold, type ItemProps, ToTimeline } from "./parts.tsx";
import { ToolCall } from "./tool-call.tsx";

/** Items at the start and at the end that are shown before a button shows more. */
const FIRST = 100;
const LAST = 50;

/** Levels of sub-agents that are opened at first, if each is all that the run around it has. */
const OPENED = 3;

interface ItemsProps extends Omit<ItemProps<unknown>, "item"> {
  readonly exchange: Exchange;
  /** How many sub-agents are around it. */
  readonly depth?: number;
}

/** The items of an exchange; only the start and the end of a long one. */
export function Items({ depth = 0, exchange, model, query }: ItemsProps) {
  const { items } = exchange;
  const [more, setMore] = useState(0);
  const printing = usePrinting();
  const first = Math.max(FIRST + more, printing ? MOST_PRINTED : 0);
  const rest = items.length - first - LAST;
  // A run that only dispatches one agent has nothing else to read than that agent's exchange.
  const alone = depth < OPENED && items.filter(({ kind }) => kind !== "state").length === 1;
  const isAsked = items.some(isQuestion);
  const list = (some: readonly ExchangeItem[], from: number) =>
    some.map((item, at) => (
      <li class="talk-item" key={`${from + at} ${item.kind}`}>
        <Item
          alone={alone}
          depth={depth}
          isAsked={isAsked}
          item={item}
          model={model}
          query={query}
        />
      </li>
    ));
  if (items.length === 0)
    return <p class="muted">No messages, tool calls or decisions are known.</p>;
  if (rest <= 0) return <ol class="talk-items">{list(items, 0)}</ol>;
  return (
    <>
      <ol class="talk-items">{list(items.slice(0, first), 0)}</ol>
      <button class="talk-more" onClick={() => setMore(more + 2 * FIRST)} type="button">
        Show {count(Math.min(2 * FIRST, rest))} more of {count(rest)}
      </button>
      <ol class="talk-items" start={first + rest + 1}>
        {list(items.slice(first + rest), first + rest)}
      </ol>
    </>
  );
}

interface OneProps extends ItemProps<ExchangeItem> {
  /** It is the only one. */
  readonly alone: boolean;
  readonly depth: number;
  /** The run itself has a question, not only its history. */
  readonly isAsked: boolean;
}

/** One item of a conversation. */
function Item(props: OneProps) {
  const { alone, depth, isAsked, item, model, query } = props;
  switch (item.kind) {
    case "message":
      return <Message item={item} model={model} query={query} />;
    case "call":
      return (
        <ToolCall item={item} model={model} query={query}>
          {item.runs.map((run) => (
            <SubRun depth={depth} item={run} key={run.node.id} model={model} query={query} />
          ))}
        </ToolCall>
      );
    case "decision":
      return (
        <p class="talk-line">
          <DecisionLine decision={item.decision} tool={item.tool} />
          <ToTimeline node={item.node} {...props} />
        </p>
      );
    case "error":
      return <Failure {...props} item={item} />;
    case "wait":
      return <Wait {...props} item={item} />;
    case "retrieval":
      return <Retrieval {...props} item={item} />;
    case "run":
      return <SubRun depth={depth} item={item} model={model} open={alone} query={query} />;
    case "earlier":
      return (
        <Fold open={!isAsked} summary={`Before this run: ${sizeOf(item).join(", ")}`}>
          <Items exchange={item} model={model} query={query} />
        </Fold>
      );
    case "note":
      return (
        <p class="talk-line muted">
          <Text value={item.text} />
          <ToTimeline node={item.node} {...props} />
        </p>
      );
    case "state":
      return (
        <Fold summary="State of the agent at the end">
          <Code text={item.text} />
          <ToTimeline node={item.node} {...props} />
        </Fold>
      );
    default:
      return item satisfies never;
  }
}

interface SubRunProps extends ItemProps<RunItem> {
  readonly depth: number;
  readonly open?: boolean;
}

/** A sub-agent: a line with its own exchange in it. */
function SubRun({ depth, item, model, open = false, query }: SubRunProps) {
  const { exchange, node } = item;
  const outcome = outcomeOf(node.span);
  const length = node.end === undefined ? undefined : durationText(node.end - node.start);
  const parts = length === undefined ? sizeOf(exchange) : [...sizeOf(exchange), length];
  return (
    <Fold
      open={open}
      summary={
        <>
          Agent{" "}
          <strong>
            <LinkText limit={80} value={shortName(node.span)} />
          </strong>{" "}
          <span class="muted">{parts.join(", ")}</span>{" "}
          {outcome !== undefined && outcome !== "complete" && <Badge outcome={outcome} />}
        </>
      }
    >
      <ToTimeline model={model} node={node} query={query} />
      <Items depth={depth + 1} exchange={exchange} model={model} query={query} />
    </Fold>
  );
}

function isQuestion(item: ExchangeItem): boolean {
  return item.kind === "message" && item.message.from === "input" && item.message.role === "user";
}

function isFailed(item: ExchangeItem): boolean {
  if (item.kind === "error") return !item.isRetried;
  return item.kind === "call" && item.node?.span.failed === true;
}

/** `3 messages`, `1 tool call`, `1 failed`. */
function sizeOf({ items }: Exchange): readonly string[] {
  const of = (kind: ExchangeItem["kind"]) => items.filter((item) => item.kind === kind).length;
  const [messages, calls] = [of("message"), of("call")];
  const failed = items.filter(isFailed).length;
  return [
    ...(messages === 0 ? [] : [counted(messages, "message")]),
    ...(calls === 0 ? [] : [counted(calls, "tool call")]),
    ...(failed === 0 ? [] : [failedText(failed)]),
  ];
}
