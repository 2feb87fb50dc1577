import { fieldsOf } from "../core/door.ts";

/**
 * The part of OpenTelemetry's `Span` that the AI SDK 6 uses. It exports nothing: spans come from the sink's events.
 */
export interface AiSdkSpan {
  spanContext(): {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
  };
  setAttribute(key: string, value: unknown): this;
  setAttributes(attributes: object): this;
  addEvent(name: string, ...more: readonly unknown[]): this;
  addLink(link: unknown): this;
  addLinks(links: readonly unknown[]): this;
  setStatus(status: unknown): this;
  updateName(name: string): this;
  end(endTime?: unknown): void;
  isRecording(): boolean;
  recordException(exception: unknown, time?: unknown): void;
}

/** The span context that OpenTelemetry uses for "no span". */
const NO_CONTEXT = { traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 };

/** Attributes that the SDK sets only if `recordOutputs` is not false. */
const OUTPUTS = [
  "ai.response.text",
  "ai.response.reasoning",
  "ai.response.toolCalls",
  "ai.response.object",
  "ai.toolCall.args",
  "ai.toolCall.result",
];

/** Keeps the attributes that the SDK sets. */
export class RecordedSpan implements AiSdkSpan {
  readonly #attributes = new Map<string, unknown>();
  readonly #onEnd: ((span: RecordedSpan) => void) | undefined;
  #isFailed = false;
  #isEnded = false;

  /** @param onEnd called once, when the span ends. */
  constructor(attributes: unknown, onEnd?: (span: RecordedSpan) => void) {
    this.#onEnd = onEnd;
    this.setAttributes(attributes);
  }

  get(key: string): unknown {
    return this.#attributes.get(key);
  }

  /** The attributes with this prefix, without it. */
  below(prefix: string): Readonly<Record<string, unknown>> {
    const found = [...this.#attributes].filter(([key]) => key.startsWith(prefix));
    return Object.fromEntries(found.map(([key, value]) => [key.slice(prefix.length), value]));
  }

  /** Whether the call's settings let the SDK show outputs. */
  get showsOutputs(): boolean {
    return OUTPUTS.some((key) => this.#attributes.has(key));
  }

  /** Whether the SDK has set an error status. It also throws the error. */
  get isFailed(): boolean {
    return this.#isFailed;
  }

  spanContext() {
    return NO_CONTEXT;
  }

  setAttribute(key: string, value: unknown): this {
    if (value !== undefined) this.#attributes.set(key, value);
    return this;
  }

  setAttributes(attributes: unknown): this {
    const given = Object.entries(fieldsOf(attributes) ?? {});
    for (const [key, value] of given) this.setAttribute(key, value);
    return this;
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  /** The SDK only sets the status of a failed span. */
  setStatus(): this {
    this.#isFailed = true;
    return this;
  }

  updateName(): this {
    return this;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd?.(this);
  }

  isRecording(): boolean {
    return true;
  }

  recordException(): void {}
}
