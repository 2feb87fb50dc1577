import type { Attributes, Span, Tracer } from "@opentelemetry/api";
import type { AiSdkTelemetryOptions } from "../../../src/entries/ai-sdk.ts";
import type { ContentNeed } from "../../../src/index.ts";
import { listen, type Part } from "./fake-sdk.ts";

// Runs code in spans as the AI SDK 6 does, with the attributes of 6.0.326: see its `recordSpan` and
// `selectTelemetryAttributes`. `test/e2e/adapters.e2e.ts` runs the SDK itself.

export const USAGE_6 = {
  inputTokens: { total: 10, noCache: 8, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 5, text: 4, reasoning: 1 },
};

/** A telemetry whose tracer the SDK takes as one of OpenTelemetry. */
export function listen6(more: Partial<AiSdkTelemetryOptions> = {}, need: ContentNeed = "all") {
  const heard = listen(more, need);
  const tracer: Tracer = heard.telemetry.tracer;
  return { ...heard, tracer };
}

interface Settings {
  readonly functionId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly recordInputs?: boolean;
  readonly recordOutputs?: boolean;
  readonly messages?: readonly unknown[];
  readonly operationId?: string;
}

/** `recordSpan`. @param endsWhenDone not for a stream, which ends later. */
export async function inSpan<T>(
  tracer: Tracer,
  name: string,
  attributes: Attributes,
  fn: (span: Span) => Promise<T>,
  endsWhenDone = true,
): Promise<T> {
  await Promise.resolve();
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      const result = await fn(span);
      if (endsWhenDone) span.end();
      return result;
    } catch (error) {
      if (error instanceof Error) span.recordException(error);
      span.setStatus({ code: 2 });
      if (endsWhenDone) span.end();
      throw error;
    }
  });
}

/** A call of the SDK. */
export class FakeCall6 {
  readonly steps: { content: readonly Part[] }[] = [];
  readonly #tracer: Tracer;
  readonly #settings: Settings;
  readonly #operationId: string;

  constructor(tracer: Tracer, settings: Settings = {}) {
    this.#tracer = tracer;
    this.#settings = settings;
    this.#operationId = settings.operationId ?? "ai.generateText";
  }

  #base(operationId: string): Attributes {
    const { functionId = "support", metadata = {} } = this.#settings;
    const named = Object.entries(metadata).map(([key, value]) => [
      `ai.telemetry.metadata.${key}`,
      value,
    ]);
    return {
      "operation.name": `${operationId} ${functionId}`,
      "ai.operationId": operationId,
      "ai.telemetry.functionId": functionId,
      "ai.model.provider": "acme.chat",
      "ai.model.id": "small-1",
      "ai.settings.seed": 7,
      ...Object.fromEntries(named),
    };
  }

  #in(attributes: Attributes): Attributes {
    return this.#settings.recordInputs === false ? {} : attributes;
  }

  #out(attributes: Attributes): Attributes {
    return this.#settings.recordOutputs === false ? {} : attributes;
  }

  /** `generateText`. */
  generate<T>(work: (call: this) => Promise<T>): Promise<T | { steps: object[] }> {
    const { messages = [{ role: "user", content: "question-mark" }] } = this.#settings;
    const asked = this.#in({ "ai.prompt": JSON.stringify({ messages }) });
    const start = { ...this.#base(this.#operationId), ...asked };
    return inSpan(this.#tracer, this.#operationId, start, async (span) => {
      const given = await work(this);
      const last = this.steps.at(-1)?.content ?? [];
      span.setAttributes({ "ai.response.finishReason": reasonOf(last), ...this.#shown(last) });
      return given ?? { steps: this.steps };
    });
  }

  #shown(content: readonly Part[]): Attributes {
    const text = content.filter(({ type }) => type === "text").map((part) => String(part.text));
    const calls = content.filter(({ type }) => type === "tool-call");
    return this.#out({
      ...(text.length === 0 ? {} : { "ai.response.text": text.join("") }),
      ...(calls.length === 0 ? {} : { "ai.response.toolCalls": JSON.stringify(calls) }),
    });
  }

  #asked(prompt: readonly unknown[]): Attributes {
    return {
      ...this.#in({
        "ai.prompt.messages": JSON.stringify(prompt),
        "ai.prompt.tools": [JSON.stringify({ name: "add", description: "adds" })],
        "ai.prompt.toolChoice": '{"type":"auto"}',
      }),
      "gen_ai.request.temperature": 0.2,
    };
  }

  /** One attempt of a model call. @param answer its content, or what is thrown. */
  async model(answer: unknown, prompt: readonly unknown[] = PROMPT): Promise<unknown> {
    const name = `${this.#operationId}.doGenerate`;
    const start = { ...this.#base(name), ...this.#asked(prompt) };
    return inSpan(this.#tracer, name, start, async (span) => {
      if (!isContent(answer)) throw answer;
      span.setAttributes({
        ...this.#shown(answer),
        "ai.response.finishReason": reasonOf(answer),
        "ai.response.id": "resp-1",
        "ai.response.model": "small-1-2026",
        "gen_ai.usage.input_tokens": 10,
      });
      this.steps.push({ content: answer });
      const response = { id: "resp-1", modelId: "small-1-2026" };
      return { content: answer, usage: USAGE_6, response };
    });
  }

  /** The SDK calls a tool. @param work what its code does. */
  tool(call: Part, work: () => unknown): Promise<object> {
    const start = {
      "ai.toolCall.name": String(call.toolName),
      "ai.toolCall.id": String(call.toolCallId),
      ...this.#out({ "ai.toolCall.args": JSON.stringify(call.input) }),
    };
    return inSpan(this.#tracer, "ai.toolCall", start, async (span) => {
      try {
        const output = await work();
        span.setAttributes(this.#out({ "ai.toolCall.result": JSON.stringify(output) }));
        return { type: "tool-result", output };
      } catch (error) {
        span.setStatus({ code: 2 });
        return { type: "tool-error", error };
      }
    });
  }

  /** `streamText` with one step. @param begun runs inside the call. @returns the parts that its reader gets, and `end`, as the SDK ends the call. */
  async stream(source: ReadableStream<unknown>, begun: () => void = () => {}) {
    const start = { ...this.#base("ai.streamText"), ...this.#in({ "ai.prompt": "{}" }) };
    const step = { ...this.#base("ai.streamText.doStream"), ...this.#asked(PROMPT) };
    return inSpan(
      this.#tracer,
      "ai.streamText",
      start,
      async (root) => {
        begun();
        const { result, doStreamSpan } = await inSpan(
          this.#tracer,
          "ai.streamText.doStream",
          step,
          async (span) => ({ doStreamSpan: span, result: { stream: source, request: {} } }),
          false,
        );
        const ended = (content: readonly Part[], reason = reasonOf(content)) => {
          doStreamSpan.setAttributes({ "ai.response.msToFirstChunk": 12.4 });
          doStreamSpan.setAttributes({
            ...this.#out({ "ai.response.text": "", ...this.#shown(content) }),
            "ai.response.finishReason": reason,
          });
          doStreamSpan.end();
        };
        const finished = (content: readonly Part[], reason = reasonOf(content)) => {
          root.setAttributes({
            ...this.#out({ "ai.response.text": "", ...this.#shown(content) }),
            "ai.response.finishReason": reason,
          });
          root.end();
        };
        return { root, doStreamSpan, result, ended, finished };
      },
      false,
    );
  }
}

function isContent(answer: unknown): answer is readonly Part[] {
  return Array.isArray(answer);
}

const PROMPT = [
  { role: "system", content: "system-mark" },
  { role: "user", content: [{ type: "text", text: "question-mark" }] },
];

function reasonOf(content: readonly Part[]): string {
  return content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
}

/** The end of a model's stream. */
export const finishPart = (unified = "stop") => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage: USAGE_6,
});
