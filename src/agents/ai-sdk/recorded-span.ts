import { fieldsOf } from "../core/narrow.ts";

/**
 * A span as the AI SDK 6 uses it: what it calls of OpenTelemetry's `Span`. It records nothing by itself; the
 * events of the sink do.
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

/** OpenTelemetry's context of a span that does not exist. */
const NO_CONTEXT = { traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 };

/** What the SDK sets only if a call's `recordOutputs` is not false. */
const OUTPUTS = [
  "ai.response.text",
  "ai.response.reasoning",
  "ai.response.toolCalls",
  "ai.response.object",
  "ai.toolCall.args",
  "ai.toolCall.result",
];

/** A span that keeps what the SDK says on it. */
export class RecordedSpan implements AiSdkSpan {
  readonly #attributes = new Map<string, unknown>();
  readonly #onEnd: ((span: RecordedSpan) => void) | undefined;
  #isFailed = false;
  #isEnded = false;

  /** @param onEnd called once, at the end. */
  constructor(attributes: unknown, onEnd?: (span: RecordedSpan) => void) {
    this.#onEnd = onEnd;
    this.setAttributes(attributes);
  }

  /** An attribute, if it is set. */
  get(key: string): unknown {
    return this.#attributes.get(key);
  }

  /** The attributes whose names begin like this, by the rest of their names. */
  below(prefix: string): Readonly<Record<string, unknown>> {
    const found = [...this.#attributes].filter(([key]) => key.startsWith(prefix));
    return Object.fromEntries(found.map(([key, value]) => [key.slice(prefix.length), value]));
  }

  /** Whether the SDK has shown what came out: the call's settings allow it. */
  get showsOutputs(): boolean {
    return OUTPUTS.some((key) => this.#attributes.has(key));
  }

  /** The SDK has marked it as failed: it throws what it failed with. */
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

  /** The SDK sets the status of what failed, and of nothing else. */
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
