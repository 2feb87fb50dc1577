import { randomUUID } from "node:crypto";
import { AiSdkTelemetry, type AiSdkTelemetryOptions } from "../../../src/entries/ai-sdk.ts";
import type { ContentNeed } from "../../../src/index.ts";
import { keepingSink } from "../../support/told.ts";

// Calls the telemetry as the AI SDK 7 does, with the events that it has in 7.0.173. The SDK itself needs a
// newer Node: `test/e2e/adapters.e2e.ts` runs it.

export type Part = Readonly<Record<string, unknown>> & { readonly type: string };

export const text = (content: string): Part => ({ type: "text", text: content });
export const asks = (toolName: string, toolCallId: string, input: unknown = {}): Part => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
});
export const wantsApproval = (approvalId: string, call: Part): Part => ({
  type: "tool-approval-request",
  approvalId,
  toolCall: call,
});

export const USAGE = {
  inputTokens: 10,
  inputTokenDetails: { cacheReadTokens: 2, cacheWriteTokens: 0 },
  outputTokens: 5,
  outputTokenDetails: { reasoningTokens: 1 },
};

/** A telemetry with a sink that keeps everything. */
export function listen(
  more: Partial<AiSdkTelemetryOptions> = {},
  contentNeed: ContentNeed = "all",
) {
  const { sink, ...kept } = keepingSink(contentNeed);
  const errors: unknown[] = [];
  const telemetry = new AiSdkTelemetry({
    sink,
    tenant: "acme",
    onError: (error) => errors.push(error),
    ...more,
  });
  return {
    ...kept,
    telemetry,
    sink,
    errors,
  };
}

/** A call of the SDK, step by step. */
export class FakeCall {
  readonly callId: string;
  readonly #telemetry: AiSdkTelemetry;
  readonly #fields: Readonly<Record<string, unknown>>;
  #steps = 0;

  constructor(telemetry: AiSdkTelemetry, fields: Readonly<Record<string, unknown>> = {}) {
    // Unique in the process, as the SDK's: another copy of the adapter may follow calls of other tests.
    this.callId = randomUUID();
    this.#telemetry = telemetry;
    this.#fields = fields;
  }

  #event(more: object) {
    const { functionId = "support", recordInputs, recordOutputs } = this.#fields;
    return { callId: this.callId, functionId, recordInputs, recordOutputs, ...more };
  }

  async start(more: object = {}): Promise<void> {
    await this.#telemetry.onStart(
      this.#event({
        operationId: "ai.generateText",
        provider: "acme.chat",
        modelId: "small-1",
        messages: [{ role: "user", content: "question-mark" }],
        tools: {},
        runtimeContext: {},
        ...this.#fields,
        ...more,
      }),
    );
  }

  /** The model is asked. @param attempts what each attempt gives or throws. */
  async model(...attempts: readonly (object | Error)[]): Promise<object | undefined> {
    const event = this.#event({
      provider: "acme.chat",
      modelId: "small-1",
      messages: [{ role: "user", content: "question-mark" }],
      instructions: "system-mark",
      temperature: 0.2,
    });
    this.#telemetry.onLanguageModelCallStart(event);
    let last: object | undefined;
    for (const attempt of attempts) {
      const execute = async () => {
        if (attempt instanceof Error) throw attempt;
        return attempt;
      };
      try {
        last = await this.#telemetry.executeLanguageModelCall({ ...event, execute });
      } catch {
        // The SDK tries again, or gives up.
      }
    }
    return last;
  }

  answers(content: readonly Part[], more: object = {}): void {
    const isAsking = content.some(({ type }) => type === "tool-call");
    this.#telemetry.onLanguageModelCallEnd(
      this.#event({
        provider: "acme.chat",
        modelId: "small-1",
        finishReason: isAsking ? "tool-calls" : "stop",
        usage: USAGE,
        content,
        responseId: "resp-1",
        performance: { timeToFirstOutputMs: undefined },
        ...more,
      }),
    );
  }

  /** The SDK calls a tool. @param work what its code does. */
  async tool(call: Part, work: () => unknown): Promise<void> {
    const toolCall = { toolCallId: call.toolCallId, toolName: call.toolName, input: call.input };
    const event = this.#event({ toolCall });
    const toolCallId = String(call.toolCallId);
    this.#telemetry.onToolExecutionStart(event);
    let toolOutput: object;
    try {
      const execute = async () => work();
      const output = await this.#telemetry.executeTool({
        callId: this.callId,
        toolCallId,
        execute,
      });
      toolOutput = { ...toolCall, type: "tool-result", output };
    } catch (error) {
      toolOutput = { ...toolCall, type: "tool-error", error };
    }
    this.#telemetry.onToolExecutionEnd({ ...event, toolOutput, toolExecutionMs: 1 });
  }

  step(content: readonly Part[], more: object = {}): void {
    this.#telemetry.onStepEnd(this.#event({ stepNumber: this.#steps, content, ...more }));
    this.#steps += 1;
  }

  end(content: readonly Part[], more: object = {}): void {
    const finalStep = { content };
    this.#telemetry.onEnd(this.#event({ finishReason: "stop", finalStep, ...more }));
  }

  /** A step with one answer, and the end of the call. */
  async finish(content: readonly Part[]): Promise<void> {
    await this.model({});
    this.answers(content);
    this.step(content);
    this.end(content);
  }

  fails(error: unknown): void {
    this.#telemetry.onError(this.#event({ error }));
  }

  aborts(reason?: unknown): void {
    this.#telemetry.onAbort(this.#event({ reason, steps: [] }));
  }
}

/** A model's stream that breaks off when the signal fires, and otherwise stays open. */
export function streamUntil(signal: AbortSignal): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) =>
      signal.addEventListener("abort", () => controller.error(signal.reason), { once: true }),
  });
}

export const later = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Reasons of a stop, of every type. */
export const STOPS: readonly (readonly [name: string, reason: unknown])[] = [
  ["a text", "client gone"],
  ["an object", { why: "client gone" }],
  ["an Error", new Error("client gone")],
  ["a DOMException", new DOMException("client gone", "AbortError")],
  ["an error of its own class", new (class ClientGone extends Error {})("client gone")],
  ["no reason", undefined],
];
