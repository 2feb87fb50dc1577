import { cut } from "../../events/format/door.ts";
import type { ViewAttributes, ViewDecision, ViewSpan, ViewStory } from "../format.ts";
import { fieldsOf, fieldText, textIn } from "../model/attributes.ts";
import { type ChatMessage, conversationOf } from "../model/conversation.ts";
import { decidedIn, isSameDecision } from "../model/decisions.ts";
import { jsonLine, parsedJson } from "../model/json-text.ts";
import { withOwnTexts } from "./own-texts.ts";
import { plainText } from "./plain-text.ts";

/** Longest text of a story, in characters: the list holds those of 100,000 runs. */
export const MOST_STORY_TEXT = 200;
/** Start of a text that is read for it. */
const MOST_READ = MOST_STORY_TEXT * 4;
/** Decisions of a story. The run's page has all. */
const MOST_DECISIONS = 8;
/** Names of a story: models, tools and tags. They are short: the list filters by them. */
const MOST_MODELS = 8;
const MOST_NAMES = 12;
const MOST_NAME = 60;
/** Inputs of tools for the search: of each call, and of all. */
const MOST_INPUT = 100;
const MOST_INPUTS = 300;

/** The story of a run after one more of its spans: question, answer, error, decisions. */
export function storyAfter(before: ViewStory, span: ViewSpan): ViewStory {
  switch (span.kind) {
    case "run":
      // What an agent of others was asked and answered is known when its place in the trace is.
      return span.vocabulary === undefined ? withRun(before, span) : before;
    case "tool":
      return withDecision(
        withTool(before, span.attributes),
        decisionIn(span.attributes, span.start_ns),
      );
    case "model": {
      const story = withModel(before, span.attributes);
      if (before.question !== undefined || span.vocabulary !== undefined) return story;
      // The span of an open run has not come yet, or has no input.
      return { ...story, question: lastText(conversationOf(span), "input", "user") };
    }
    case "step":
    case "other":
      return before;
    default:
      return span.kind satisfies never;
  }
}

/**
 * What a span of other instrumentation says of a run that it is the outermost agent or the last call of. `undefined`:
 * it is neither, or says nothing of itself.
 */
export function outerStoryOf(span: ViewSpan): ViewStory | undefined {
  const { failed, kind, parent_span_id, remote_parent } = span;
  const isOuter = parent_span_id === undefined || remote_parent === true;
  const canBe =
    kind === "run" || (kind === "model" && (isOuter || failed)) || (kind === "step" && failed);
  return canBe ? withOwnTexts(withRun({}, span), {}) : undefined;
}

/** The story of a run of other instrumentation with what its agent says. */
export function withOuterStory(story: ViewStory, outerStory: ViewStory): ViewStory {
  const { answer, asked, error, question } = outerStory;
  return {
    ...story,
    question,
    answer,
    asked,
    error,
    thread_id: outerStory.thread_id ?? story.thread_id,
    user: outerStory.user ?? story.user,
    session: outerStory.session ?? story.session,
    tags: outerStory.tags ?? story.tags,
  };
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
    thread_id: idIn(attributes, "gen_ai.conversation.id") ?? before.thread_id,
    user: idIn(attributes, "user.id") ?? before.user,
    session: idIn(attributes, "session.id") ?? before.session,
    tags: tagsIn(attributes) ?? before.tags,
  };
  for (const { attributes: decision, name, time_ns } of events) {
    if (name === "entelix.approval") story = withDecision(story, decisionIn(decision, time_ns));
  }
  return story;
}

function withModel(before: ViewStory, attributes: ViewAttributes): ViewStory {
  const model =
    nameIn(attributes, "gen_ai.response.model") ?? nameIn(attributes, "gen_ai.request.model");
  if (model === undefined || model === before.model) return before;
  if (before.model === undefined) return { ...before, model };
  return { ...before, models: withName(before.models ?? [before.model], model, MOST_MODELS) };
}

function withTool(before: ViewStory, attributes: ViewAttributes): ViewStory {
  const tool = nameIn(attributes, "gen_ai.tool.name");
  const input = textIn(attributes, "gen_ai.tool.call.arguments");
  const { tool_inputs = "", tools = [] } = before;
  const named = tool === undefined ? tools : withName(tools, tool, MOST_NAMES);
  const text = input === undefined ? undefined : shortText(input, MOST_INPUT);
  const hasRoom = text !== undefined && tool_inputs.length < MOST_INPUTS;
  // An open span comes again when it has ended.
  const isNew = hasRoom && !tool_inputs.includes(text);
  if (named === before.tools && !isNew) return before;
  const inputs = isNew ? cut(`${tool_inputs} ${text}`.trim(), MOST_INPUTS).text : tool_inputs;
  return {
    ...before,
    ...(named.length === 0 ? {} : { tools: named }),
    ...(inputs === "" ? {} : { tool_inputs: inputs }),
  };
}

/** The names with one more; the same list if it is full or has the name. */
function withName(names: readonly string[], name: string, most: number): readonly string[] {
  return names.length >= most || names.includes(name) ? names : [...names, name];
}

function tagsIn(attributes: ViewAttributes): readonly string[] | undefined {
  const tags = attributes["entelix.run.tags"];
  if (!Array.isArray(tags) || tags.length === 0) return undefined;
  const names = tags.slice(0, MOST_NAMES).map((tag) => shortText(String(tag), MOST_NAME) ?? "");
  return [...new Set(names)];
}

function nameIn(attributes: ViewAttributes, name: string): string | undefined {
  return shortTextIn(attributes, name, MOST_NAME);
}

/** An ID, cut: the list holds those of 100,000 runs. */
function idIn(attributes: ViewAttributes, name: string): string | undefined {
  return shortTextIn(attributes, name, MOST_STORY_TEXT);
}

function shortTextIn(attributes: ViewAttributes, name: string, most: number): string | undefined {
  return short(textIn(attributes, name), most);
}

function short(text: string | undefined, most: number): string | undefined {
  return text === undefined ? undefined : cut(text, most).text;
}

function withDecision(before: ViewStory, decision: ViewDecision | undefined): ViewStory {
  const { decisions = [] } = before;
  if (decision === undefined) return before;
  const known = decisions.find((one) => isSameDecision(one, decision));
  // The span of the call and the event of the run describe the same decision. Each may have a field that the other
  // lacks.
  const both: ViewDecision = {
    ...decision,
    at_ms: Math.min(decision.at_ms, known?.at_ms ?? decision.at_ms),
    by: decision.by ?? known?.by,
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
  const decided = decidedIn(attributes);
  if (decided === undefined) return undefined;
  const { by, decision, person, wait_ms } = decided;
  return {
    call_id: idIn(attributes, "gen_ai.tool.call.id") ?? "",
    tool: nameIn(attributes, "gen_ai.tool.name") ?? "",
    outcome: cut(decision, MOST_NAME).text,
    at_ms: Math.floor(Number(at_ns) / 1e6),
    by: short(by, MOST_NAME),
    person: short(person, MOST_STORY_TEXT),
    wait_ms,
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
    const text = shortText(plainText(texts.join("\n").slice(0, MOST_READ)));
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
  const parts: unknown[] = [parsedJson(payload) ?? payload];
  // LangChain's payload names the calls first, and has their input in a later part.
  let named: string | undefined;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (typeof part === "string" && at === 0) return shortText(part);
    const fields = fieldsOf(part);
    const tool = firstText(fields, TOOLS);
    const question = tool === undefined ? firstText(fields, QUESTIONS) : undefined;
    if (question !== undefined) return shortText(question);
    if (tool !== undefined) {
      const input = INPUTS.map((name) => fields?.[name]).find((value) => value !== undefined);
      if (input !== undefined) return shortText(`${tool} ${jsonLine(input)}`);
      named ??= tool;
    }
    for (const inner of Array.isArray(part) ? part : Object.values(fields ?? {})) {
      if (parts.length < MOST_PARTS) parts.push(inner);
    }
  }
  return shortText(named ?? payload);
}

function firstText(
  fields: Readonly<Record<string, unknown>> | undefined,
  names: readonly string[],
): string | undefined {
  return names.map((name) => fieldText(fields, name)).find((text) => text !== undefined);
}

/** On one line, cut. `undefined` if nothing is left. */
function shortText(text: string, most = MOST_STORY_TEXT): string | undefined {
  // A long text is cut first: the list has only its beginning.
  const line = text.slice(0, MOST_READ).replace(/\s+/g, " ").trim();
  return line === "" ? undefined : cut(line, most).text;
}
