import { type ChatMessage, type ChatPart, unusualEnd } from "../../model/conversation.ts";
import { Markdown } from "../shell/markdown.tsx";
import { RawTextSwitch } from "../shell/raw-text.tsx";
import { Text } from "../shell/text.tsx";
import { Code } from "./value.tsx";

export interface ConversationProps {
  readonly messages: readonly ChatMessage[];
  readonly content: boolean;
}

/** Messages to a model, and its answers. */
export function Conversation({ content, messages }: ConversationProps) {
  if (messages.length === 0) {
    return (
      <p class="muted">
        {content ? "The span has no messages." : "Messages are content, and content was left out."}
      </p>
    );
  }
  return (
    <>
      <RawTextSwitch />
      <ol class="conversation">
        {messages.map((message, at) => (
          <li class={`message ${message.from}`} key={`${at} ${message.role}`}>
            <h3>
              <Text limit={40} value={message.role} />
              {message.from === "instructions" && <span class="muted"> instructions</span>}
              {message.from === "output" && <span class="muted"> answer</span>}
            </h3>
            {message.parts.map((part, index) => (
              <Part key={`${index} ${part.kind}`} part={part} />
            ))}
            <FinishReason message={message} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** Why the model stopped, if that is not usual. */
export function FinishReason({ message }: { readonly message: ChatMessage }) {
  const end = unusualEnd(message);
  if (end === undefined) return null;
  return (
    <p class="muted">
      Finish reason: <Text value={end} />
    </p>
  );
}

function Part({ part }: { readonly part: ChatPart }) {
  const { callId, kind, name = "", text } = part;
  const id = callId === undefined ? null : <Text limit={40} value={callId} />;
  switch (kind) {
    case "text":
      return (
        <div class="part">
          <Markdown value={text} />
        </div>
      );
    case "reasoning":
      return (
        <details class="part">
          <summary>Reasoning</summary>
          <Markdown value={text} />
        </details>
      );
    case "tool_call":
      return (
        <div class="part">
          <p>
            Calls <Text limit={80} value={name} /> <span class="muted mono">{id}</span>
          </p>
          <Code text={text} />
        </div>
      );
    case "tool_result":
      return (
        <div class="part">
          <p>
            Result <span class="muted mono">{id}</span>
          </p>
          <Code text={text} />
        </div>
      );
    case "data":
      return (
        <details class="part">
          <summary>
            <Text limit={80} value={name === "" ? "Data" : name} />
          </summary>
          <Code text={text} />
        </details>
      );
    default:
      return kind satisfies never;
  }
}
