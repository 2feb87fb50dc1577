import { expect, it } from "vitest";
import { agentRun, asked, FakeSpan, listen } from "./fake-mastra.ts";

const STOP = { tripwireAbort: { reason: "it says secret-mark" } };
const BUG = { message: "broken", name: "TypeError" };

function processor(above: FakeSpan, processorPhase: string): FakeSpan {
  const attributes = { processorPhase };
  return above.child("processor_run", { entityId: "guard", attributes });
}

it("a processor's own model calls are one call without a model, with their tokens and no price", () => {
  const heard = listen({ price: () => "5" });
  const run = agentRun(heard.telemetry);
  const internalUsage = { inputTokens: 30, outputTokens: 4 };
  processor(run, "input").end({ attributes: { internalUsage } });
  run.end({ output: { text: "x" } });
  expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
  expect(heard.ofType("model_start")[0]).toMatchObject({ model: null });
  const [call] = heard.ofType("model_complete");
  expect(call).toMatchObject({ usage: { input_tokens: 30, output_tokens: 4 } });
  expect(call).not.toHaveProperty("cost_usd");
  expect(call?.sentIn.details).toEqual({ sums_calls: true });
  const usage = { requests: 1, input_tokens: 30, output_tokens: 4 };
  expect(heard.ofType("complete")[0]?.usage).toMatchObject(usage);
});

it("hidden model calls of a tool belong to the tool call", () => {
  const heard = listen();
  const run = new FakeSpan(heard.telemetry, "agent_run", undefined, { entityName: "support" });
  const tool = run.child("tool_call", { entityName: "search" });
  tool.end({ output: {}, attributes: { internalUsage: { inputTokens: 3, outputTokens: 1 } } });
  run.end({ output: { text: "x" } });
  const [call] = heard.ofType("tool_start");
  expect(heard.ofType("model_start")[0]?.sentIn.details?.tool_use_id).toBe(call?.tool_use_id);
});

it.each(["inputStep", "llmRequest", "outputStream"])(
  "a stop in the phase %s ends the run, although Mastra does not end its span",
  (phase) => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    asked(run);
    processor(run, phase).end({ attributes: { processorPhase: phase, ...STOP }, errorInfo: BUG });
    const codes = heard.ofType("model_error").map(({ envelope }) => envelope.wire_code);
    expect(codes).toEqual(["cancelled"]);
    expect(heard.ofType("failed")).toMatchObject([
      { error: "the processor guard stopped the run", envelope: { wire_code: "invalid_request" } },
    ]);
    run.end({ output: { text: "x" } });
    expect(heard.types().at(-1)).toBe("failed");
    expect(JSON.stringify(heard.sent)).not.toContain("secret-mark");
    expect(heard.counts()).toEqual({});
  },
);

it("a stop of the result fails a run whose span shows an answer", () => {
  const heard = listen();
  const run = agentRun(heard.telemetry);
  processor(run, "outputResult").end({ attributes: STOP, errorInfo: BUG });
  expect(heard.types()).toEqual(["started"]);
  run.end({ output: { text: "x" } });
  expect(heard.ofType("failed")).toMatchObject([{ error: "the processor guard stopped the run" }]);
});

it("a processor of the result that throws fails the run with its error", () => {
  const heard = listen();
  const run = agentRun(heard.telemetry);
  processor(run, "outputResult").end({ errorInfo: BUG });
  run.end({ output: { text: "x" } });
  expect(heard.ofType("failed")).toMatchObject([{ error: "broken", envelope: { origin: "run" } }]);
});

it("a stop that makes the model answer again fails nothing, and names the processor of the last one", () => {
  const heard = listen();
  const good = agentRun(heard.telemetry);
  processor(good, "outputStep").end({ attributes: STOP, errorInfo: BUG });
  good.end({ output: { text: "x" } });
  const bad = agentRun(heard.telemetry, { metadata: { runId: "mastra-2" } });
  processor(bad, "outputStep").end({ attributes: STOP, errorInfo: BUG });
  bad.child("model_generation").end({ attributes: { finishReason: "tripwire" } });
  bad.end({ output: { text: "x" } });
  expect(heard.types()).toEqual(["started", "complete", "started", "failed"]);
  expect(heard.ofType("failed")[0]?.error).toBe("the processor guard stopped the run");
});

it("an error of a processor of the stream, which Mastra ignores, fails nothing", () => {
  const heard = listen();
  const run = agentRun(heard.telemetry);
  processor(run, "outputStream").end({ errorInfo: BUG });
  run.end({ output: { text: "x" } });
  expect(heard.types()).toEqual(["started", "complete"]);
});
