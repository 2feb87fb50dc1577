import { useState } from "preact/hooks";
import { count, counted, durationText } from "../../../../events/format/door.ts";
import type { Exchange, ExchangeItem, RunItem } from "../../../model/exchange-items.ts";
import { MOST_PRINTED } from "../../../model/list-limits.ts";
import { outcomeOf, shortName } from "../../../model/span-words.ts";
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

interface ItemsProps extends Omit<ItemProps<unknown>, "item"> {
  readonly exchange: Exchange;
}

/** The items of an exchange. Of a long one, its start and its end. */
export function Items({ exchange, model, query }: ItemsProps) {
  const { items } = exchange;
  const [more, setMore] = useState(0);
  const printing = usePrinting();
  const first = Math.max(FIRST + more, printing ? MOST_PRINTED : 0);
  const rest = items.length - first - LAST;
  // Of a run that only dispatches one agent, that agent's exchange is what there is to read.
  const alone = items.filter(({ kind }) => kind !== "state").length === 1;
  const list = (some: readonly ExchangeItem[], from: number) =>
    some.map((item, at) => (
      <li class="talk-item" key={`${from + at} ${item.kind}`}>
        <Item alone={alone} item={item} model={model} query={query} />
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

/** One item of a conversation. */
function Item(props: ItemProps<ExchangeItem> & { readonly alone: boolean }) {
  const { alone, item, model, query } = props;
  switch (item.kind) {
    case "message":
      return <Message item={item} model={model} query={query} />;
    case "call":
      return (
        <ToolCall item={item} model={model} query={query}>
          {item.runs.map((run) => (
            <SubRun item={run} key={run.node.id} model={model} query={query} />
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
      return <SubRun item={item} model={model} open={alone} query={query} />;
    case "earlier":
      return (
        <Fold summary={`Before this run: ${sizeOf(item).join(", ")}`}>
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
        </Fold>
      );
    default:
      return item satisfies never;
  }
}

/** A sub-agent: a line with its own exchange in it. */
function SubRun({
  item,
  model,
  open = false,
  query,
}: ItemProps<RunItem> & { readonly open?: boolean }) {
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
      <Items exchange={exchange} model={model} query={query} />
    </Fold>
  );
}

/** `3 messages`, `1 tool call`. */
function sizeOf({ items }: Exchange): readonly string[] {
  const of = (kind: ExchangeItem["kind"]) => items.filter((item) => item.kind === kind).length;
  const [messages, calls] = [of("message"), of("call")];
  return [
    ...(messages === 0 ? [] : [counted(messages, "message")]),
    ...(calls === 0 ? [] : [counted(calls, "tool call")]),
  ];
}
