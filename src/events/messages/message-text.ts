import { bytesOf, type JsonNode, Leaf } from "../json-nodes.ts";
import { plainJson } from "../plain-json.ts";
import { MOST_CONTENT_BYTES } from "../value-limits.ts";
import { isMessage } from "./conventional.ts";
import type { InputMessage } from "./message.ts";
import { frozen } from "./own-copy.ts";
import { isObject } from "./own-fields.ts";

/** The JSON of a frozen message. It is written once, and cut once for each size. */
export class MessageText implements JsonNode {
  readonly whole = true;
  readonly message: InputMessage;
  readonly size: number;
  readonly #json: string;
  #room = -1;
  #limit = -1;
  #short: JsonNode = this;

  constructor(message: InputMessage, json: string) {
    this.message = message;
    this.size = bytesOf(json);
    this.#json = json;
  }

  measure(): void {}

  write(): string {
    return this.#json;
  }

  /**
   * Its JSON of at most `room` bytes. The last one is kept.
   *
   * @param limit of all messages, which the text depends on, too.
   */
  within(room: number, limit: number, cut: (message: InputMessage) => string): JsonNode {
    if (this.#room !== room || this.#limit !== limit) {
      this.#short = new Leaf(cut(this.message));
      this.#room = room;
      this.#limit = limit;
    }
    return this.#short;
  }
}

/** The frozen messages. Each has a text from its first reader on. */
const own = new WeakMap<object, InputMessage | MessageText>();

/** Freezes a message that shares nothing with other code, so that its JSON can be kept. */
export function ownMessage<T extends InputMessage>(message: T): T {
  own.set(frozen(message), message);
  return message;
}

/** The same for a message that may share values with other code: a copy, if JSON has all of it. */
export function copiedMessage(message: InputMessage): InputMessage {
  const json = plainJson(message, MOST_CONTENT_BYTES);
  const copy: unknown = json === undefined ? undefined : JSON.parse(json);
  return isMessage(copy) ? ownMessage(copy) : message;
}

/** The kept JSON of a list of frozen messages. `undefined` for any other value. */
export function keptTexts(list: unknown): readonly MessageText[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const texts: MessageText[] = [];
  for (const each of list) {
    const text = isObject(each) ? keptText(each) : undefined;
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

function keptText(message: object): MessageText | undefined {
  const known = own.get(message);
  if (known === undefined || known instanceof MessageText) return known;
  const json = plainJson(known, MOST_CONTENT_BYTES);
  const text = json === undefined ? undefined : new MessageText(known, json);
  if (text === undefined) own.delete(message);
  else own.set(message, text);
  return text;
}

/** The JSON of copies of messages. `undefined` if JSON does not have all of them. */
export function ownTexts(messages: readonly InputMessage[]): readonly MessageText[] | undefined {
  return keptTexts(messages.map(copiedMessage));
}

/** The bytes of {@link joinedTexts}. */
export function joinedSize(texts: readonly JsonNode[]): number {
  let size = 1 + Math.max(1, texts.length);
  for (const text of texts) size += text.size;
  return size;
}

/** The JSON of a list of messages, of their texts. */
export function joinedTexts(texts: readonly JsonNode[]): string {
  let json = "[";
  for (const text of texts) json += json === "[" ? text.write() : `,${text.write()}`;
  return `${json}]`;
}
