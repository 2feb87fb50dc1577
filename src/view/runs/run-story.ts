import { cut } from "../../events/format/door.ts";
import type { ViewAttributes, ViewDecision, ViewSpan, ViewStory } from "../format.ts";
import { fieldsOf, fieldText, numberIn, textIn } from "../model/attributes.ts";
import { type ChatMessage, conversationOf } from "../model/conversation.ts";

/** Longest text of a story, in characters: the list holds those of 100,000 runs. */
export const MOST_STORY_TEXT = 200;
/** Decisions of a story. The run's page has all. */
const MOST_DECISIONS = 8;

/** What is known of a run after one more of its spans: what was asked and answered, why it failed, who decided. */
export function storyAfter(before: ViewStory, span: ViewSpan): ViewStory {
  switch (span.kind) {
    case "run":
      return withRun(before, span);
    case "tool":
      return withDecision(before, decisionIn(span.attributes, span.start_ns));
    case "model":
      return withModel(before, span.attributes);
    case "step":
    case "other":
      return before;
    default:
      return span.kind satisfies never;
  }
}

function withRun(before: ViewStory, span: ViewSpan): ViewStory {
  const { attributes, events } = span;
  const messages = conversationOf(span);
  const isPaused = textIn(attributes, "entelix.run.outcome") === "interrupted";
  // The input of a resumption is the decision, not a question.
  const isResumed = textIn(attributes, "entelix.run.resumed_from") !== undefined;
  let story: ViewStory = {
    ...before,
    question: (isResumed ? undefined : lastText(messages, "input", "user")) ?? before.question,
    answer: isPaused ? undefined : lastText(messages, "output", undefined),
    asked: isPaused ? askedIn(attributes) : undefined,
    error: span.failed && span.message !== undefined ? shortText(span.message) : undefined,
    thread_id: textIn(attributes, "gen_ai.conversation.id") ?? before.thread_id,
    user: textIn(attributes, "user.id") ?? before.user,
    session: textIn(attributes, "session.id") ?? before.session,
  };
  for (const { attributes: decision, name, time_ns } of events) {
    if (name === "entelix.approval") story = withDecision(story, decisionIn(decision, time_ns));
  }
  return story;
}

function withModel(before: ViewStory, attributes: ViewAttributes): ViewStory {
  const model =
    textIn(attributes, "gen_ai.response.model") ?? textIn(attributes, "gen_ai.request.model");
  return model === undefined || before.model !== undefined ? before : { ...before, model };
}

function withDecision(before: ViewStory, decision: ViewDecision | undefined): ViewStory {
  const { decisions = [] } = before;
  if (decision === undefined) return before;
  const isSame = (one: ViewDecision) => one.call_id !== "" && one.call_id === decision.call_id;
  const known = decisions.find(isSame);
  // The span of the call and the event of the run tell of the same decision: together they have everything.
  const both: ViewDecision = {
    ...decision,
    at_ms: Math.min(decision.at_ms, known?.at_ms ?? decision.at_ms),
    person: decision.person ?? known?.person,
    wait_ms: decision.wait_ms ?? known?.wait_ms,
  };
  // Sorted, because spans come in any order.
  const all = [...decisions.filter((one) => one !== known), both].sort(byTime);
  return { ...before, decisions: all.slice(0, MOST_DECISIONS) };
}

function byTime(one: ViewDecision, other: ViewDecision): number {
  return one.at_ms - other.at_ms || (one.call_id < other.call_id ? -1 : 1);
}

function decisionIn(attributes: ViewAttributes, at_ns: string): ViewDecision | undefined {
  const outcome = textIn(attributes, "entelix.approval.outcome");
  if (outcome === undefined) return undefined;
  return {
    call_id: textIn(attributes, "gen_ai.tool.call.id") ?? "",
    tool: textIn(attributes, "gen_ai.tool.name") ?? "",
    outcome,
    at_ms: Math.floor(Number(at_ns) / 1e6),
    by: textIn(attributes, "entelix.approval.by"),
    person: textIn(attributes, "entelix.approval.person"),
    wait_ms: numberIn(attributes, "entelix.approval.wait_ms"),
  };
}

/** The text of the last such message. Tool calls and data have none. */
function lastText(
  messages: readonly ChatMessage[],
  from: ChatMessage["from"],
  role: string | undefined,
): string | undefined {
  for (const message of [...messages].reverse()) {
    if (message.from !== from || (role !== undefined && message.role !== role)) continue;
    const texts = message.parts.flatMap(({ kind, text }) => (kind === "text" ? [text] : []));
    const text = shortText(texts.join(" "));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Names of what a person is asked, in the payloads of the frameworks. */
const QUESTIONS = ["question", "message", "prompt", "text", "description"];
const TOOLS = ["name", "toolName", "tool_name", "tool"];
const INPUTS = ["args", "arguments", "input"];
/** Parts of a payload that are looked at. */
const MOST_PARTS = 100;

/** What the person is asked: a question, or the call that waits. */
function askedIn(attributes: ViewAttributes): string | undefined {
  const payload = textIn(attributes, "entelix.interruption.payload");
  if (payload === undefined) return undefined;
  const parts: unknown[] = [parsed(payload)];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (typeof part === "string" && at === 0) return shortText(part);
    const fields = fieldsOf(part);
    const tool = firstText(fields, TOOLS);
    const question = tool === undefined ? firstText(fields, QUESTIONS) : undefined;
    if (question !== undefined) return shortText(question);
    if (tool !== undefined) {
      const input = INPUTS.map((name) => fields?.[name]).find((value) => value !== undefined);
      return shortText(input === undefined ? tool : `${tool} ${JSON.stringify(input)}`);
    }
    for (const inner of Array.isArray(part) ? part : Object.values(fields ?? {})) {
      if (parts.length < MOST_PARTS) parts.push(inner);
    }
  }
  return shortText(payload);
}

function firstText(
  fields: Readonly<Record<string, unknown>> | undefined,
  names: readonly string[],
): string | undefined {
  return names.map((name) => fieldText(fields, name)).find((text) => text !== undefined);
}

/** On one line, cut. `undefined` if nothing is left. */
function shortText(text: string): string | undefined {
  // A long text is cut first: the list has only its beginning.
  const line = text
    .slice(0, MOST_STORY_TEXT * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line === "" ? undefined : cut(line, MOST_STORY_TEXT).text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
