import {
  boundedCopy,
  boundedJson,
  type ContentField,
  type Instant,
  inputMessages,
  instructionParts,
  isPlainWithin,
  keptTexts,
  type MessageText,
  outputMessages,
  ownTexts,
  type RedactionHook,
  redacted,
  toolDefinitions,
} from "../../events/door.ts";
import { EarlierMessages } from "./earlier-messages.ts";
import {
  type ContentShape,
  type Shortened,
  SPAN_FORMS,
  shortened,
  shortenedTexts,
} from "./shortened-content.ts";

/** Options for the content of users, models and tools on spans. Content is off by default. */
export interface ContentOptions {
  /**
   * Whether spans contain tool inputs and outputs, messages to and from models and runs, system
   * instructions, tool definitions, state, interrupt payloads and approval reasons. Default:
   * `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`, else `false`.
   */
  readonly captureContent?: boolean | undefined;
  /**
   * Which input messages the span of a model call has: all, or only those that the model call before it in its run had
   * not (`new`). Then `entelix.content.earlier_messages` has the number of those that it had, which stand before.
   * The spans of a long conversation are much smaller. `view` and `report` show all. Backends that show the messages of
   * one span need all. Default `all`.
   */
  readonly messages?: "all" | "new" | undefined;
  readonly redact?: RedactionHook | undefined;
  /**
   * Whether `redact` depends on nothing but the value, the attribute and the tenant. Then it gets each input message
   * of a run by itself, in a list, and only once, not all of them again for each model call. Default `false`.
   */
  readonly redactOnce?: boolean | undefined;
  /**
   * Limit of a captured value that is not a message, in bytes of UTF-8. Shortened JSON is still JSON. Default
   * 4,096.
   */
  readonly maxValueBytes?: number | undefined;
  /**
   * Limit of the messages in one attribute, of system instructions, and of tool definitions, in bytes of
   * UTF-8. Long texts are cut first. Then messages in the middle are dropped. Default 65,536.
   */
  readonly maxMessageBytes?: number | undefined;
  /** Limit of an error text in bytes of UTF-8. Default 1,024. */
  readonly maxStatusBytes?: number | undefined;
  /** Limit of an exception's stack in bytes of UTF-8. Default 8,192. */
  readonly maxStackBytes?: number | undefined;
}

/** Counts the content of a span that was cut. */
export interface ContentCuts {
  /** @param bytes of the value's JSON or text that were cut. */
  cut(bytes: number, droppedMessages: number): void;
}

/** Counts cuts before the span exists. */
export class CutCounts implements ContentCuts {
  bytes = 0;
  messages = 0;

  cut(bytes: number, droppedMessages: number): void {
    this.bytes += bytes;
    this.messages += droppedMessages;
  }
}

/** Applies capture, redaction and size limits to users' data on spans. */
export class ContentPolicy {
  readonly captures: boolean;
  /** Number of values that were hidden because the redaction hook threw or returned a promise. */
  failures = 0;
  readonly #redact: RedactionHook | undefined;
  readonly #redactsOnce: boolean;
  /** Absent if spans of model calls have all messages. */
  readonly #earlier: EarlierMessages | undefined;
  /** What the hook made of messages, with {@link ContentOptions.redactOnce}. */
  readonly #shown = new WeakMap<MessageText, Shown>();
  readonly #valueBytes: number;
  readonly #messageBytes: number;
  readonly #statusBytes: number;
  readonly #stackBytes: number;
  readonly #hidden: (error: unknown) => void;

  constructor(options: ContentOptions, onError: (error: unknown) => void) {
    // Only `true`: untyped programs can pass "false", which must not capture anything.
    this.captures = (options.captureContent ?? capturesByEnvironment()) === true;
    this.#redact = options.redact;
    this.#earlier = options.messages === "new" ? new EarlierMessages() : undefined;
    this.#redactsOnce = options.redactOnce === true && options.redact !== undefined;
    this.#valueBytes = positive("maxValueBytes", options.maxValueBytes ?? 4096);
    this.#messageBytes = positive("maxMessageBytes", options.maxMessageBytes ?? 65_536);
    this.#statusBytes = positive("maxStatusBytes", options.maxStatusBytes ?? 1024);
    this.#stackBytes = positive("maxStackBytes", options.maxStackBytes ?? 8192);
    this.#hidden = (error) => {
      this.failures++;
      onError(error);
    };
  }

  /** A captured value as attribute text; `undefined` if content is absent or not captured. */
  value(value: unknown, field: ContentField, cuts?: ContentCuts): string | undefined {
    if (!this.captures || value === undefined) return undefined;
    const shown = this.#redacted(value, field);
    if (shown === undefined) return undefined;
    if (typeof shown !== "string") {
      const json = boundedJson(shown, { ...SPAN_FORMS, bytes: this.#valueBytes });
      if (json.cut) cuts?.cut(json.cutBytes, 0);
      return json.text;
    }
    const text = cutNoted(shown, this.#valueBytes);
    if (text !== shown) cuts?.cut(countOf(shown, this.#valueBytes).bytes - byteLength(text), 0);
    return text;
  }

  /** The input of a run, as messages. */
  input(value: unknown, field: ContentField, cuts?: ContentCuts): string | undefined {
    const texts = this.captures ? this.#textsOf(value, field, cuts) : undefined;
    return this.#shortened(texts, value, field, cuts);
  }

  /** The input of a model call, and how many messages it leaves out since the run's call before it had them. */
  request(
    value: unknown,
    field: ContentField,
    cuts: ContentCuts,
    run: object,
    call: { readonly startedAt: Instant },
  ): Request {
    if (this.#earlier === undefined || !this.captures) {
      return { text: this.input(value, field, cuts), earlier: undefined };
    }
    const texts = this.#textsOf(value, field, cuts, true);
    const earlier = this.#earlier.count(run, call, texts);
    return { text: this.#shortened(texts?.slice(earlier), value, field, cuts), earlier };
  }

  #shortened(
    texts: readonly MessageText[] | undefined,
    value: unknown,
    field: ContentField,
    cuts: ContentCuts | undefined,
  ): string | undefined {
    if (texts === undefined) return this.#formed(value, field, inputMessages, "messages", cuts);
    if (texts.length === 0) return undefined;
    return counted(shortenedTexts(texts, this.#messageBytes), cuts);
  }

  /**
   * The JSON of each message. `undefined` if it is not kept, or the hook gets all messages together.
   *
   * @param isNeeded then only if JSON does not have all of them. Default `false`.
   */
  #textsOf(
    value: unknown,
    field: ContentField,
    cuts: ContentCuts | undefined,
    isNeeded = false,
  ): readonly MessageText[] | undefined {
    const kept = keptTexts(value);
    const form = (shown: unknown) => inputMessages(this.#within(shown, "messages", cuts));
    if (this.#redact === undefined) return kept ?? (isNeeded ? ownTexts(form(value)) : undefined);
    if (!this.#redactsOnce) {
      return isNeeded ? ownTexts(form(this.#redacted(form(value), field))) : undefined;
    }
    const given = kept ?? ownTexts(form(value));
    if (given === undefined) return undefined;
    const texts: MessageText[] = [];
    for (const each of given) {
      const shown = this.#shownOf(each, field, cuts);
      if (shown === undefined) return undefined;
      for (const text of shown) texts.push(text);
    }
    return texts;
  }

  #shownOf(
    text: MessageText,
    field: ContentField,
    cuts: ContentCuts | undefined,
  ): readonly MessageText[] | undefined {
    const { attribute, tenantId } = field;
    const known = this.#shown.get(text);
    if (known?.attribute === attribute && known.tenantId === tenantId) return known.texts;
    const failures = this.failures;
    const shown = this.#within(this.#redacted([text.message], field), "messages", cuts);
    const texts = ownTexts(inputMessages(shown));
    if (texts !== undefined && this.failures === failures) {
      this.#shown.set(text, { attribute, tenantId, texts });
    }
    return texts;
  }

  /**
   * The output of a model or run, as messages.
   *
   * @param reasons the finish reasons, if the messages do not have them.
   */
  output(
    value: unknown,
    field: ContentField,
    cuts?: ContentCuts,
    reasons?: readonly string[],
  ): string | undefined {
    const form = (given: unknown) => outputMessages(given, reasons);
    return this.#formed(value, field, form, "messages", cuts);
  }

  /** System instructions, as parts of a message. */
  instructions(value: unknown, field: ContentField, cuts?: ContentCuts): string | undefined {
    return this.#formed(value, field, instructionParts, "parts", cuts);
  }

  /** Definitions of tools. */
  tools(value: unknown, field: ContentField, cuts?: ContentCuts): string | undefined {
    return this.#formed(value, field, toolDefinitions, "tools", cuts);
  }

  /** Converts to the form of the conventions, before and after the redaction hook. */
  #formed(
    value: unknown,
    field: ContentField,
    form: (value: unknown) => readonly unknown[],
    shape: ContentShape,
    cuts: ContentCuts | undefined,
  ): string | undefined {
    if (!this.captures || value === undefined || value === null) return undefined;
    let shown = form(this.#within(value, shape, cuts));
    if (shown.length === 0) return undefined;
    if (this.#redact !== undefined) {
      shown = form(this.#within(this.#redacted(shown, field), shape, cuts));
      if (shown.length === 0) return undefined;
    }
    return counted(shortened(shown, this.#messageBytes, shape), cuts);
  }

  /** The value, or the part of it that fits, so that conversion takes no more than needed. */
  #within(value: unknown, shape: ContentShape, cuts: ContentCuts | undefined): unknown {
    const most = READ_FACTOR * this.#messageBytes;
    if (typeof value !== "object" || isPlainWithin(value, most)) return value;
    const copy = boundedCopy(value, most, shape !== "messages");
    if (copy.dropped > 0) cuts?.cut(2 * copy.dropped, copy.dropped);
    return copy.value;
  }

  /** The operator's error text, redacted and cut. */
  errorText(message: string, field: ContentField): string {
    return this.#operatorText(message, field, this.#statusBytes);
  }

  /** The stack of an exception, redacted and cut. */
  stackText(stack: string, field: ContentField): string {
    return this.#operatorText(stack, field, this.#stackBytes);
  }

  #operatorText(message: string, field: ContentField, bytes: number): string {
    const shown = this.#redact === undefined ? message : this.#redacted(message, field);
    if (shown === undefined || shown === null) return "";
    if (typeof shown === "string") return cutBytes(shown, bytes);
    return cutBytes(boundedJson(shown, { ...SPAN_FORMS, bytes: Math.max(bytes, 64) }).text, bytes);
  }

  #redacted(value: unknown, field: ContentField): unknown {
    const redact = this.#redact;
    return redact === undefined ? value : redacted(redact, value, field, this.#hidden);
  }
}

/** The input of a model call on its span. */
interface Request {
  readonly text: string | undefined;
  /** Messages before them, which are on spans of calls that started before. `undefined`: none. */
  readonly earlier: number | undefined;
}

/** The texts that the redaction hook made of a message. */
interface Shown extends Pick<ContentField, "attribute" | "tenantId"> {
  readonly texts: readonly MessageText[];
}

function counted({ cutBytes, droppedMessages, text }: Shortened, cuts?: ContentCuts): string {
  if (cutBytes > 0) cuts?.cut(cutBytes, droppedMessages);
  return text;
}

/** The part of long messages that is converted, as a multiple of the attribute's limit. */
export const READ_FACTOR = 4;

/** Texts up to this length are measured, and texts up to 16 times their limit. */
const COUNTED = 64 * 1024;

function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Whether the environment variable of the conventions enables content. */
export function capturesByEnvironment(env: NodeJS.ProcessEnv = process.env): boolean {
  const value = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase();
  return value === "true" || value === "span_only" || value === "span_and_event";
}

function positive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name}: expected a whole number of bytes from 1, got ${value}`);
}

/** At most `bytes` bytes of UTF-8, cut between characters. */
export function cutBytes(text: string, bytes: number): string {
  // A UTF-16 unit has at most three bytes, so most texts need no measuring.
  if (text.length * 3 <= bytes) return text;
  // A UTF-16 unit has at least one byte, so no more units can fit.
  const whole = Buffer.from(text.slice(0, bytes + 1), "utf8");
  if (whole.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--;
  return whole.toString("utf8", 0, end);
}

/** The bytes of a text. Far above the limit, it returns the number of UTF-16 units, a lower bound. */
function countOf(
  text: string,
  limit: number,
): { readonly bytes: number; readonly isExact: boolean } {
  const isExact = text.length <= Math.max(COUNTED, 16 * limit);
  return { bytes: isExact ? byteLength(text) : text.length, isExact };
}

/** As {@link cutBytes}, with the original size at the end if there is room for it. */
function cutNoted(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const { bytes: total, isExact } = countOf(text, bytes);
  if (total <= bytes) return text;
  const note = `… [truncated, ${isExact ? "" : "at least "}${total} bytes total]`;
  const room = bytes - Buffer.byteLength(note, "utf8");
  return room < 0 ? cutBytes(text, bytes) : cutBytes(text, room) + note;
}
