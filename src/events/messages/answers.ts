import { contentParts } from "./content-parts.ts";
import { type Draft, roleDraft } from "./items.ts";
import {
  fieldsIn,
  firstText,
  listIn,
  type OwnFields,
  objectIn,
  own,
  textIn,
} from "./own-fields.ts";

/**
 * The messages in a provider's complete answer: Chat Completions' choices, Gemini's candidates. `undefined` for any
 * other value.
 */
export function answerDrafts(fields: OwnFields): readonly Draft[] | undefined {
  const choices = listIn(fields, "choices") ?? listIn(fields, "candidates") ?? bedrockIn(fields);
  if (choices === undefined) return undefined;
  const drafts: Draft[] = [];
  for (const each of choices) {
    const choice = fieldsIn(each);
    if (choice === undefined) return undefined;
    const draft = choiceDraft(choice);
    if (draft === undefined) return undefined;
    drafts.push(draft);
  }
  return drafts;
}

/** Bedrock's answer: `{ output: { message }, stopReason }`. */
function bedrockIn(fields: OwnFields): readonly unknown[] | undefined {
  const message = objectIn(objectIn(fields, "output") ?? {}, "message");
  return message === undefined || textIn(message, "role") === undefined
    ? undefined
    : [{ message, finish_reason: textIn(fields, "stopReason") }];
}

function choiceDraft(choice: OwnFields): Draft | undefined {
  const reason = firstText(choice, "finish_reason", "finishReason");
  const message =
    objectIn(choice, "message") ?? objectIn(choice, "content") ?? objectIn(choice, "delta");
  if (message !== undefined) {
    const draft = roleDraft(message) ?? roleDraft(asAssistant(message));
    const refuses = reason === "stop" && textIn(message, "refusal") !== undefined;
    return draft && { ...draft, reason: draft.reason ?? endOf(reason, refuses), joins: false };
  }
  const text = textIn(choice, "text");
  // Gemini's candidate has no content if a filter stopped it.
  if (text === undefined && reason === undefined) return undefined;
  return { role: "assistant", parts: contentParts(text), reason, joins: false };
}

const ANSWER_FIELDS = ["content", "parts", "tool_calls", "function_call", "refusal", "audio"];

/** Gemini sometimes omits the role, and so do chunks of streams. */
function asAssistant(message: OwnFields): OwnFields {
  const says = ANSWER_FIELDS.some((name) => own(message, name) !== undefined);
  return says ? { ...message, role: "assistant" } : message;
}

/** The items of a Responses API answer, with the finish reason. */
export function responseItems(
  fields: OwnFields,
): { readonly items: readonly unknown[]; readonly reason: string | undefined } | undefined {
  const items = listIn(fields, "output");
  if (items === undefined || textIn(fields, "role") !== undefined) return undefined;
  if (own(fields, "type") !== undefined) return undefined;
  const why = objectIn(fields, "incomplete_details");
  const reason = why === undefined ? textIn(fields, "status") : textIn(why, "reason");
  const refuses = reason === "completed" && items.some(refusesIn);
  return { items, reason: endOf(reason, refuses) };
}

/** Providers say of a refusal that it ended as usual. */
function endOf(reason: string | undefined, refuses: boolean): string | undefined {
  return refuses ? "refusal" : reason;
}

function refusesIn(item: unknown): boolean {
  const fields = fieldsIn(item);
  const content = fields && listIn(fields, "content");
  return (content ?? []).some((part) => own(fieldsIn(part) ?? {}, "type") === "refusal");
}
