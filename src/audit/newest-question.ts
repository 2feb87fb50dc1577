import {
  boundedJson,
  CONTENT_FORMS,
  isObject,
  MOST_CONTENT_BYTES,
  parseExact,
  readFits,
  surelyFits,
} from "../events/door.ts";

/** Most bytes of JSON of a question in its row. */
export const MOST_QUESTION_BYTES = 64 * 1024;

/** The input of a run in its row. */
export interface Question {
  readonly value: unknown;
  /** Whether the value, or the messages that contain it, exceeded a limit. */
  readonly cut: boolean;
}

/**
 * The newest message of the user, from all messages of a run's input. Earlier messages are in the rows of earlier
 * runs. The value is cut to at most 64 KiB.
 *
 * @returns `undefined` if no message is the user's.
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

/** The messages as a recording has them, so that its replay gives the same row. */
function asRecorded(input: unknown): Question {
  if (surelyFits(input, MOST_QUESTION_BYTES) || readFits(input, MOST_CONTENT_BYTES)) {
    return { value: input, cut: false };
  }
  const { cut, text } = boundedJson(input, { ...CONTENT_FORMS, bytes: MOST_CONTENT_BYTES });
  return cut ? { value: parseExact(text), cut } : { value: input, cut };
}

/** Most messages that are searched, from the newest. */
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
