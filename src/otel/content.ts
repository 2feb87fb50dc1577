import { stringifyExact } from "../events/exact-json.ts";
import {
  type ContentField,
  type RedactionHook,
  type RedactionTrouble,
  redacted,
} from "../sinks/redaction.ts";

/** Options for the content of users, models and tools on spans. Content is off by default. */
export interface ContentOptions {
  /**
   * Whether tool inputs and outputs, messages to and from models, state, interrupt payloads and
   * approval reasons go onto spans.
   * Default: what `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` says, else `false`.
   */
  readonly captureContent?: boolean | undefined;
  readonly redact?: RedactionHook | undefined;
  /** Most bytes (UTF-8) of a captured value. Default 4,096. */
  readonly maxValueBytes?: number | undefined;
  /** Most bytes (UTF-8) of an error text. Default 1,024. */
  readonly maxStatusBytes?: number | undefined;
  /** Most bytes (UTF-8) of an exception's stack. Default 8,192. */
  readonly maxStackBytes?: number | undefined;
}

/** Decides what of users' data may be seen on a span: capture, redaction, size. */
export class ContentPolicy {
  readonly captures: boolean;
  /** How often the redaction hook threw or gave a promise, so that the value was hidden. */
  failures = 0;
  readonly #redact: RedactionHook | undefined;
  readonly #valueBytes: number;
  readonly #statusBytes: number;
  readonly #stackBytes: number;
  readonly #trouble: RedactionTrouble;

  constructor(options: ContentOptions, onError: (error: unknown) => void) {
    // Nothing but `true`: programs without types pass on texts, and "false" must not show anything.
    this.captures = (options.captureContent ?? capturesByEnvironment()) === true;
    this.#redact = options.redact;
    this.#valueBytes = positive("maxValueBytes", options.maxValueBytes ?? 4096);
    this.#statusBytes = positive("maxStatusBytes", options.maxStatusBytes ?? 1024);
    this.#stackBytes = positive("maxStackBytes", options.maxStackBytes ?? 8192);
    this.#trouble = {
      failed: (error) => {
        this.failures++;
        onError(error);
      },
      rejected: onError,
    };
  }

  /** A captured value as attribute text; `undefined` where content is not captured or absent. */
  value(value: unknown, field: ContentField): string | undefined {
    if (!this.captures || value === undefined) return undefined;
    const shown = this.#redacted(value, field);
    if (shown === undefined) return undefined;
    const text = typeof shown === "string" ? shown : stringifyExact(shown);
    return cutNoted(text, this.#valueBytes);
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
    return cutBytes(typeof shown === "string" ? shown : stringifyExact(shown), bytes);
  }

  #redacted(value: unknown, field: ContentField): unknown {
    const redact = this.#redact;
    return redact === undefined ? value : redacted(redact, value, field, this.#trouble);
  }
}

function capturesByEnvironment(): boolean {
  const value = process.env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase();
  return value === "true" || value === "span_only" || value === "span_and_event";
}

function positive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name}: expected a whole number of bytes from 1, got ${value}`);
}

/** At most `bytes` bytes of UTF-8, cut between characters. */
export function cutBytes(text: string, bytes: number): string {
  // No UTF-16 unit takes more than three bytes, so most texts need no counting.
  if (text.length * 3 <= bytes) return text;
  // A unit takes at least one byte: no more units can fit.
  const whole = Buffer.from(text.slice(0, bytes + 1), "utf8");
  if (whole.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--;
  return whole.toString("utf8", 0, end);
}

/** The same, with the original size noted in the last of these bytes, where there is room for it. */
function cutNoted(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const total = Buffer.byteLength(text, "utf8");
  if (total <= bytes) return text;
  const note = `… [truncated, ${total} bytes total]`;
  const room = bytes - Buffer.byteLength(note, "utf8");
  return room < 0 ? cutBytes(text, bytes) : cutBytes(text, room) + note;
}
