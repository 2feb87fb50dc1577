import { useMemo } from "preact/hooks";
import { count, durationText } from "../../../../events/format/door.ts";
import type { ChatPart } from "../../../model/conversation.ts";
import type { MessageItem } from "../../../model/exchange-items.ts";
import { indentedJson } from "../../../model/json-text.ts";
import { shortName } from "../../../model/span-words.ts";
import { ownUsage } from "../../../model/usage.ts";
import { Markdown } from "../../shell/markdown.tsx";
import { LinkText, Text } from "../../shell/text.tsx";
import { FinishReason } from "../conversation.tsx";
import { Code } from "../value.tsx";
import { Fold, type ItemProps, ToTimeline } from "./parts.tsx";

/** A message of the user, an answer of a model, or instructions. */
export function Message({ item, model, query }: ItemProps<MessageItem>) {
  const { message, node, resumes } = item;
  const { from, parts, role } = message;
  const isSystem = from === "instructions" || role === "system" || role === "developer";
  if (isSystem) {
    const text = parts.map((part) => part.text).join(" ");
    return (
      <Fold
        summary={
          <>
            System text{" "}
            <span class="muted talk-excerpt">
              <LinkText limit={80} value={text} />
            </span>
          </>
        }
      >
        <Parts parts={parts} />
        <ToTimeline model={model} node={node} query={query} />
      </Fold>
    );
  }
  if (resumes === true && isJson(parts)) {
    return (
      <Fold summary="Resumed with this input">
        <Parts parts={parts} />
        <ToTimeline model={model} node={node} query={query} />
      </Fold>
    );
  }
  return (
    <article
      class={`talk-message ${from === "output" || role === "assistant" ? "answer" : "asked"}`}
    >
      <p class="talk-head">
        <span class="talk-role">
          <Text limit={40} value={resumes === true ? `${role}, resumes the run` : role} />
        </span>
        {from === "output" && node.span.kind === "model" && <ModelFacts item={item} />}
        <ToTimeline model={model} node={node} query={query} />
      </p>
      {parts.length === 0 && <p class="muted">The answer was not captured.</p>}
      <Parts parts={parts} />
      <FinishReason message={message} />
    </article>
  );
}

function ModelFacts({ item: { node } }: { readonly item: MessageItem }) {
  const { input, output } = ownUsage(node.span);
  const facts = [
    node.end !== undefined && durationText(node.end - node.start),
    output !== undefined && `${count(input ?? 0)} in, ${count(output)} out`,
  ].filter(Boolean);
  return (
    <span class="muted">
      <Text limit={60} value={shortName(node.span)} />
      {facts.length > 0 && `, ${facts.join(", ")}`}
    </span>
  );
}

/** The parts of a message without its calls. */
export function Parts({ parts }: { readonly parts: readonly ChatPart[] }) {
  return (
    <>
      {parts.map((part, at) => (
        <PartOf key={`${at} ${part.kind}`} part={part} />
      ))}
    </>
  );
}

function PartOf({ part: { kind, name = "", text } }: { readonly part: ChatPart }) {
  const json = useMemo(() => (kind === "text" ? indentedJson(text) : undefined), [kind, text]);
  if (json !== undefined) return <Code text={json} />;
  if (kind === "text") return <Markdown value={text} />;
  const title = kind === "reasoning" ? "Reasoning" : name === "" ? "Data" : name;
  return (
    <Fold summary={<LinkText limit={80} value={title} />}>
      {kind === "reasoning" ? <Markdown value={text} /> : <Code text={text} />}
    </Fold>
  );
}

function isJson(parts: readonly ChatPart[]): boolean {
  return parts.every(({ text }) => /^\s*[[{]/.test(text));
}
