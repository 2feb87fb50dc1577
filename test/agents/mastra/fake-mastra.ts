import { MastraTelemetry, type MastraTelemetryOptions } from "../../../src/entries/mastra.ts";
import type { ContentNeed } from "../../../src/index.ts";
import { keepingSink } from "../../support/told.ts";

// Calls the telemetry as Mastra's observability does, with the spans that it has in 1.71.0. Mastra itself needs a
// newer Node: `test/e2e/adapters.e2e.ts` and `test/e2e/mastra.e2e.ts` run it.

type Data = Readonly<Record<string, unknown>>;

export const USAGE = {
  inputTokens: 10,
  outputTokens: 5,
  inputDetails: { cacheRead: 2, cacheWrite: 0 },
  outputDetails: { reasoning: 1 },
};
export const REQUEST = {
  model: "small-1",
  provider: "acme.chat",
  parameters: {},
  toolChoice: "auto",
};

/** A telemetry with a sink that keeps everything. */
export function listen(
  more: Partial<MastraTelemetryOptions> = {},
  contentNeed: ContentNeed = "all",
) {
  const { sink, ...kept } = keepingSink(contentNeed);
  const errors: unknown[] = [];
  const telemetry = new MastraTelemetry({
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
    /** Counts that are not 0. */
    counts: () =>
      Object.fromEntries(Object.entries(telemetry.counts).filter(([, count]) => count !== 0)),
  };
}

let made = 0;

/** A span of Mastra. */
export class FakeSpan {
  readonly id: string;
  readonly traceId: string;
  readonly #telemetry: MastraTelemetry;
  readonly #data: Data;

  /** @param data further fields of the exported span. */
  constructor(telemetry: MastraTelemetry, type: string, above?: FakeSpan, data: Data = {}) {
    made += 1;
    const ids = telemetry.createSpan({ type, parent: above, traceId: data.traceId });
    this.id = ids?.spanId ?? made.toString(16).padStart(16, "0");
    this.traceId = ids?.traceId ?? above?.traceId ?? String(data.traceId ?? "f".repeat(32));
    this.#telemetry = telemetry;
    const { id, traceId } = this;
    const metadata = { runId: "mastra-1" };
    const fields = { parentSpanId: above?.id, startTime: new Date(), metadata, ...data };
    this.#data = { ...fields, id, traceId, type };
    this.#tell("span_started", {});
  }

  child(type: string, data: Data = {}): FakeSpan {
    return new FakeSpan(this.#telemetry, type, this, data);
  }

  update(more: Data): void {
    this.#tell("span_updated", more);
  }

  end(more: Data = {}): void {
    this.#tell("span_ended", more);
  }

  #tell(type: string, more: Data): void {
    const attributes = { ...fieldsIn(this.#data.attributes), ...fieldsIn(more.attributes) };
    const exportedSpan = { ...this.#data, ...more, attributes };
    this.#telemetry.onTracingEvent({ type, exportedSpan });
  }

  /** Runs code in it, as Mastra does. */
  inside<T>(code: () => Promise<T>): Promise<T> {
    return this.#telemetry.executeInContext(this.id, code);
  }

  insideSync<T>(code: () => T): T {
    return this.#telemetry.executeInContextSync(this.id, code);
  }
}

function fieldsIn(value: unknown): Data {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The run of an agent. */
export function agentRun(telemetry: MastraTelemetry, data: Data = {}): FakeSpan {
  return new FakeSpan(telemetry, "agent_run", undefined, {
    entityId: "support",
    entityName: "support",
    input: "question-mark",
    ...data,
  });
}

/** A loop of that run, with its first turn and request. */
export function asked(run: FakeSpan) {
  const input = { messages: [{ role: "user", content: "question-mark" }] };
  const generation = run.child("model_generation", { attributes: REQUEST, input });
  const step = generation.child("model_step");
  const inference = step.child("model_inference", { attributes: REQUEST });
  return { generation, step, inference };
}

export function tool(above: FakeSpan, name: string, toolCallId: string, data: Data = {}): FakeSpan {
  return above.child("tool_call", {
    entityId: name,
    entityName: name,
    attributes: { toolCallId, toolDescription: `${name} it` },
    ...data,
  });
}

export const answered = (reason = "stop", text = "answer-mark") => ({
  attributes: { usage: USAGE, finishReason: reason, responseModel: "small-1-2026" },
  output: { text, toolCalls: [] },
});

/** A model's stream, as Mastra has it. */
export function streamOf(...parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

export async function readAll(stream: ReadableStream<unknown>): Promise<void> {
  for await (const part of stream) void part;
}
