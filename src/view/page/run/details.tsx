import type { RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";
import { conversationOf } from "../../model/conversation.ts";
import { earlierMessages } from "../../model/earlier-messages.ts";
import { causeOf, errorOf, failureText } from "../../model/failures.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import { kindWords, shortName } from "../../model/span-words.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { LinkText, Text } from "../shell/text.tsx";
import { AttributesView } from "./attributes-view.tsx";
import { AuditRows } from "./audit-rows.tsx";
import { Conversation } from "./conversation.tsx";
import { EventsView } from "./events-view.tsx";
import { SpanErrorView } from "./span-error.tsx";
import { SpanSummary } from "./span-summary.tsx";
import { Tabs } from "./tabs.tsx";
import { VerdictLine } from "./verdict.tsx";

export interface DetailsProps {
  readonly model: RunModel;
  readonly node: SpanNode;
  readonly region: RefObject<HTMLElement | null>;
  readonly onEscape: () => void;
  /** Selects another span. */
  readonly onGoTo: (node: SpanNode) => void;
}

/** Details of a span. */
export function Details({ model, node, onEscape, onGoTo, region }: DetailsProps) {
  const [tab, setTab] = useState("summary");
  const { span } = node;
  const { attributes, events, kind, links } = span;
  const { content, rows_from, verdict } = model.detail;
  const messages = useMemo(
    () => conversationOf(span, earlierMessages(model.tree.nodes, node)),
    [model, node, span],
  );
  const rows = model.rows.get(node) ?? [];
  const error = errorOf(span, rows);
  const tabs = [
    { id: "summary", label: "Summary" },
    ...(messages.length > 0 || kind === "model"
      ? [{ id: "conversation", label: "Conversation", count: messages.length }]
      : []),
    { id: "rows", label: "Audit rows", count: rows.length },
    { id: "attributes", label: "Attributes", count: Object.keys(attributes).length },
    { id: "events", label: "Events and links", count: events.length + links.length },
  ];
  const shown = tabs.some(({ id }) => id === tab) ? tab : "summary";
  return (
    <section
      aria-label="Details of the span"
      class="details"
      onKeyDown={(event) => {
        if (event.key === "Escape") onEscape();
      }}
      ref={region}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
    >
      <div class="row">
        <i aria-hidden="true" class={`kind ${kind}`}>
          {kindWords(kind).letter}
        </i>
        <h2>
          <Text limit={200} value={shortName(span)} />
        </h2>
        <span class="muted">{kindWords(kind).word}</span>
        <CopyButton label="Copy span ID" text={span.span_id} />
      </div>
      <Tabs label="Parts of the span" onChoose={setTab} tabs={tabs} value={shown}>
        {shown === "summary" && (
          <>
            <FailureNote model={model} node={node} onGoTo={onGoTo} />
            {error !== undefined && <SpanErrorView error={error} key={node.id} />}
            <SpanSummary model={model} node={node} />
          </>
        )}
        {shown === "conversation" && (
          <Conversation content={content} key={node.id} messages={messages} />
        )}
        {shown === "rows" && (
          <>
            <VerdictLine from={rows_from} verdict={verdict} />
            <AuditRows content={content} key={node.id} rows={rows} />
          </>
        )}
        {shown === "attributes" && <AttributesView attributes={attributes} key={node.id} />}
        {shown === "events" && (
          <EventsView events={events} key={node.id} links={links} originNs={model.tree.originNs} />
        )}
      </Tabs>
    </section>
  );
}

/** How a failure stands to the others of its run, where that is not plain. */
function FailureNote({ model, node, onGoTo }: Pick<DetailsProps, "model" | "node" | "onGoTo">) {
  const { detail, failures } = model;
  const text = failureText(node, failures, detail.run.outcome);
  const cause = causeOf(node, failures);
  if (cause === undefined) {
    return text === undefined ? null : <p class="failure-note">{text}</p>;
  }
  return (
    <p class="failure-note">
      It failed because of{" "}
      <button class="link" onClick={() => onGoTo(cause)} type="button">
        <LinkText value={shortName(cause.span)} />
      </button>
    </p>
  );
}
