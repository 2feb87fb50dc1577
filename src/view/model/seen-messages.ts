import { fieldsOf, fieldText } from "./attributes.ts";
import { roleOf } from "./conversation.ts";

/** A message, reduced to what tells it from others. */
export interface MessageKey {
  /** Equal for a message and its copies in the history of later calls. */
  readonly key: string;
  /** A model's answer: new ones come as output, so in an input they are history. */
  readonly isAnswer: boolean;
}

/**
 * The messages of a conversation that were shown. Each model call repeats the history, complete, without its oldest
 * part, or with a summary in place of it. This finds the new messages of a call, in time linear to its messages.
 */
export class SeenMessages {
  /** Positions in the conversation by key, ascending. */
  readonly #positions = new Map<string, number[]>();
  #begin = 0;
  #end = 0;

  add({ key }: MessageKey): void {
    const known = this.#positions.get(key);
    if (known === undefined) this.#positions.set(key, [this.#end]);
    else known.push(this.#end);
    this.#end++;
  }

  /** Adds messages before all others: the history that a run continues. */
  addBefore(messages: readonly MessageKey[]): void {
    this.#begin -= messages.length;
    const added = new Map<string, number[]>();
    for (const [index, { key }] of messages.entries()) {
      const same = added.get(key);
      if (same === undefined) added.set(key, [this.#begin + index]);
      else same.push(this.#begin + index);
    }
    for (const [key, positions] of added) {
      this.#positions.set(key, positions.concat(this.#positions.get(key) ?? []));
    }
  }

  /** Position behind the last message. */
  get end(): number {
    return this.#end;
  }

  has({ key }: MessageKey): boolean {
    return this.#positions.has(key);
  }

  /**
   * For each message of a call's input, whether it is new.
   *
   * Messages before the last known answer were sent before it, so they are known if the conversation has them as
   * often. Messages behind it are known only if they were shown after that answer: a user can say the same again. A
   * call without a known answer may have only new messages.
   *
   * @param since for such a call: position of the last answer to the same caller. Default: it has none.
   */
  newIn(messages: readonly MessageKey[], since?: number): readonly boolean[] {
    const anchor = messages.findLastIndex((one) => one.isAnswer && this.has(one));
    const used = new Map<string, number>();
    let at = this.#positions.get(messages[anchor]?.key ?? "")?.at(-1) ?? 0;
    return messages.map(({ key }, index) => {
      const positions = this.#positions.get(key) ?? [];
      if (index <= anchor || anchor < 0) {
        const count = (used.get(key) ?? 0) + 1;
        used.set(key, count);
        if (anchor >= 0 || since === undefined) return count > positions.length;
        const before = positions.findLastIndex((position) => position < since) + 1;
        return count > positions.length - before;
      }
      const next = firstAfter(positions, at);
      if (next !== undefined) at = next;
      return next === undefined;
    });
  }
}

/** The first of ascending numbers that is greater. */
function firstAfter(numbers: readonly number[], limit: number): number | undefined {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return numbers[low];
}

/**
 * The key of a message as it came. Not part of it: name and finish reason, and the reasoning of an answer, which many
 * providers do not repeat. The input of a call with an ID is not part of it either: a person may have edited it.
 */
export function messageKey(message: unknown, from: "input" | "output"): MessageKey {
  const role = roleOf(message, from);
  const isAnswer = ANSWERS.has(role);
  const parts = fieldsOf(message)?.parts;
  if (!Array.isArray(parts)) return { key: `${role}\n${jsonText(message)}`, isAnswer };
  const said = parts.filter((part) => fieldText(part, "type") !== "reasoning");
  const pieces = (said.length === 0 ? parts : said).map(partKey).filter((piece) => piece !== "");
  if (!isAnswer) return { key: [role, ...pieces].join("\n"), isAnswer };
  return { key: `assistant\n${answerKey(pieces.join("\n"))}`, isAnswer };
}

/**
 * The text of an answer without spaces, and without reasoning in `<think>`: the history of later calls may have its
 * parts joined, and leave the reasoning out.
 */
export function answerKey(text: string): string {
  const spoken = text.trimStart().startsWith("<think>") ? text.replace(THOUGHT, "") : text;
  return (spoken.trim() === "" ? text : spoken).replace(/\s+/g, "");
}

const THOUGHT = /^\s*<think>[\s\S]*?<\/think>/;

const ANSWERS: ReadonlySet<string> = new Set(["assistant", "ai", "model"]);

function partKey(part: unknown): string {
  const fields = fieldsOf(part);
  const id = fieldText(part, "id");
  switch (fields?.type) {
    case "text":
    case "reasoning":
      return typeof fields.content === "string" ? fields.content.trim() : jsonText(part);
    case "tool_call":
      return `calls ${id ?? `${fieldText(part, "name")} ${jsonText(fields.arguments)}`}`;
    case "tool_call_response":
      return `result ${id ?? ""} ${jsonText(fields.response ?? fields.result)}`;
    default:
      return jsonText(part);
  }
}

function jsonText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(nested too deeply)";
  }
}
