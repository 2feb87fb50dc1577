import {
  boundedJson,
  CONTENT_FORMS,
  isObject,
  MOST_CONTENT_BYTES,
  parseExact,
  surelyFits,
} from "../events/door.ts";

/** Bytes of JSON that a question takes in its row at most. */
export const MOST_QUESTION_BYTES = 64 * 1024;

/** What a run was asked, as its row has it. */
export interface Question {
  readonly value: unknown;
  /** Whether it, or the messages that it is one of, were above a limit. */
  readonly cut: boolean;
}

/**
 * What a run was asked, out of all messages that it was given: the newest of the user's. The messages
 * before it stand in the rows of earlier runs.
 *
 * It is cut as every value above its limit is, so that the row holds at most 64 KiB of it.
 *
 * @returns `undefined` where no message is the user's.
 */
export function newestQuestion(input: unknown): Question | undefined {
  const messages = asRecorded(input);
  const { value } = messages;
  const question = Array.isArray(value) ? newestOfUser(value) : value;
  if (question === undefined || question === null) return undefined;
  if (surelyFits(question, MOST_QUESTION_BYTES)) return { value: question, cut: messages.cut };
  const { cut, text } = boundedJson(question, { ...CONTENT_FORMS, bytes: MOST_QUESTION_BYTES });
  return { value: parseExact(text), cut: cut || messages.cut };
}

/** What a recording has of the messages: the same is asked of its replay. */
function asRecorded(input: unknown): Question {
  if (surelyFits(input, MOST_CONTENT_BYTES)) return { value: input, cut: false };
  const { cut, text } = boundedJson(input, { ...CONTENT_FORMS, bytes: MOST_CONTENT_BYTES });
  return cut ? { value: parseExact(text), cut } : { value: input, cut };
}

/** Messages that are looked at, from the newest on. */
const MOST_MESSAGES = 10_000;

function newestOfUser(messages: readonly unknown[]): unknown {
  const oldest = Math.max(0, messages.length - MOST_MESSAGES);
  for (let index = messages.length - 1; index >= oldest; index -= 1) {
    if (isOfUser(messages[index])) return messages[index];
  }
  return undefined;
}

function isOfUser(message: unknown): boolean {
  try {
    return isObject(message) && message.role === "user";
  } catch {
    return false;
  }
}
