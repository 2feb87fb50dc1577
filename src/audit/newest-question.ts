import { boundedJson, surelyFits } from "../events/bounded-json.ts";
import { parseExact, stringifyExact } from "../events/exact-json.ts";
import { isObject } from "../events/object-forms.ts";
import { CONTENT_FORMS, MOST_CONTENT_BYTES } from "../events/value-limits.ts";

/** Bytes of JSON that a question takes in its row at most. */
export const MOST_QUESTION_BYTES = 64 * 1024;

/** What a run was asked, as its row has it. */
export interface Question {
  readonly value: unknown;
  /** Whether something of it is missing. */
  readonly cut: boolean;
}

/** Characters that each text inside keeps, tried one after the other until the whole fits. */
const CUTS = [16_384, 4_096, 1_024, 256, 64];

/**
 * What a run was asked, out of all messages that it was given: the newest of the user's. The messages
 * before it stand in the rows of earlier runs.
 *
 * Long texts inside are cut, each at the same length, so that the row holds at most 64 KiB of it.
 *
 * @returns `undefined` where no message is the user's.
 */
export function newestQuestion(input: unknown): Question | undefined {
  const question: unknown = Array.isArray(input) ? input.findLast(isOfUser) : input;
  if (question === undefined || question === null) return undefined;
  if (surelyFits(question, MOST_QUESTION_BYTES)) return { value: question, cut: false };
  // As a recording has it: its replay must cut the same texts.
  const { text } = boundedJson(question, { ...CONTENT_FORMS, bytes: MOST_CONTENT_BYTES });
  const copy = parseExact(text);
  if (fits(text)) return { value: copy, cut: false };
  for (const most of CUTS) {
    const value = withShortTexts(copy, most);
    if (fits(stringifyExact(value))) return { value, cut: true };
  }
  return { value: `[left out: more than ${MOST_QUESTION_BYTES} bytes]`, cut: true };
}

function isOfUser(message: unknown): boolean {
  return isObject(message) && message.role === "user";
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MOST_QUESTION_BYTES;
}

function withShortTexts(value: unknown, most: number): unknown {
  if (typeof value === "string") return cutText(value, most);
  if (Array.isArray(value)) return value.map((each) => withShortTexts(each, most));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withShortTexts(each, most)]),
  );
}

function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  // Half of a character is none.
  const whole = last >= 0xd800 && last <= 0xdbff ? most - 1 : most;
  return `${text.slice(0, whole)}…`;
}
