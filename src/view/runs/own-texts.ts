import type { ViewDecision, ViewStory } from "../format.ts";

/**
 * A copy of a text. A part of a long text, such as an ID in a line, keeps the whole text in memory: the index would
 * hold most of what was read.
 */
export function ownText(text: string): string {
  return text.length < SHORT ? text : Buffer.from(text, "utf8").toString("utf8");
}

/** Shorter parts are copies already. */
const SHORT = 13;

/**
 * The story with texts of its own.
 *
 * @param before the story in the index. Its texts are copies.
 */
export function withOwnTexts(story: ViewStory, before: ViewStory): ViewStory {
  if (story === before) return story;
  const { answer, asked, decisions, error, model, question, session, thread_id, user } = story;
  const { models, tags, tool_inputs, tools } = story;
  return {
    ...story,
    question: own(question, before.question),
    answer: own(answer, before.answer),
    error: own(error, before.error),
    asked: own(asked, before.asked),
    decisions: decisions === before.decisions ? decisions : decisions?.map(ownDecision),
    thread_id: own(thread_id, before.thread_id),
    user: own(user, before.user),
    session: own(session, before.session),
    model: own(model, before.model),
    tool_inputs: own(tool_inputs, before.tool_inputs),
    models: ownList(models, before.models),
    tools: ownList(tools, before.tools),
    tags: ownList(tags, before.tags),
  };
}

function own(text: string | undefined, before: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return text === before ? before : ownText(text);
}

function ownList(
  texts: readonly string[] | undefined,
  before: readonly string[] | undefined,
): readonly string[] | undefined {
  return texts === before ? before : texts?.map(ownText);
}

function ownDecision(decision: ViewDecision): ViewDecision {
  const { call_id, person, tool } = decision;
  return {
    ...decision,
    call_id: ownText(call_id),
    tool: ownText(tool),
    person: person === undefined ? undefined : ownText(person),
  };
}
