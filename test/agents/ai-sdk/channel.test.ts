import { tracingChannel } from "node:diagnostics_channel";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { activeRun } from "../../../src/agents/runtime/active-run.ts";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { Bridge } from "../../../src/index.ts";
import { collectSpans } from "../../support/spans.ts";
import { asks, FakeCall, listen, text } from "./fake-sdk.ts";

/** Runs code as the AI SDK 7 runs a part of a call: with its tracing channel. */
const inChannel = <T>(type: string, callId: string, work: () => Promise<T>): Promise<T> =>
  tracingChannel<unknown, object>("ai:telemetry").tracePromise(work, { type, event: { callId } });

async function inner({ telemetry }: { readonly telemetry: AiSdkTelemetry }, functionId: string) {
  const call = new FakeCall(telemetry, { functionId });
  await call.start();
  await call.finish([text(functionId)]);
}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
});

afterAll(() => {
  context.disable();
});

describe("code of the application in a step of the AI SDK 7", () => {
  it("makes child runs, each in its own call", async () => {
    const heard = listen();
    const [first, second] = [new FakeCall(heard.telemetry), new FakeCall(heard.telemetry)];
    await first.start();
    await second.start();
    await Promise.all([
      inChannel("step", first.callId, () => inner(heard, "prepares 1")),
      inChannel("step", second.callId, () => inner(heard, "prepares 2")),
    ]);
    await first.finish([text("done")]);
    await second.finish([text("done")]);
    const [one, two, ...made] = heard.ofType("started");
    expect(made).toMatchObject([
      { agent: "prepares 1", parent_run_id: one?.run_id, sentIn: { parent_tool_use_id: null } },
      { agent: "prepares 2", parent_run_id: two?.run_id, sentIn: { parent_tool_use_id: null } },
    ]);
    // A child run has no usage of its own: its run counts it.
    const usages = heard.ofType("complete").map(({ usage }) => usage?.input_tokens ?? null);
    expect(usages).toEqual([null, null, 20, 20]);
    expect(activeRun()).toBeUndefined();
  });

  it("stays in the tool call that it belongs to", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await inChannel("step", call.callId, () =>
      call.tool(asks("add", "c1"), () =>
        inChannel("executeTool", call.callId, () => inner(heard, "in the tool")),
      ),
    );
    expect(heard.ofType("started")[1]).toMatchObject({
      sentIn: { parent_tool_use_id: "c1" },
    });
  });

  it("has the run's span around its own spans", async () => {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider });
    const telemetry = new AiSdkTelemetry({ sink: bridge, tenant: "acme" });
    const call = new FakeCall(telemetry);
    await call.start();
    await inChannel("step", call.callId, async () => {
      await Promise.resolve();
      provider.getTracer("http").startSpan("GET").end();
    });
    await call.finish([text("done")]);
    const run = spans().find(({ name }) => name.startsWith("invoke_agent"));
    const request = spans().find(({ name }) => name === "GET");
    expect(request?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
  });

  it("is in no run if the call is not known, or has ended", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.finish([text("done")]);
    for (const callId of ["unknown", call.callId]) {
      expect(await inChannel("step", callId, async () => activeRun())).toBeUndefined();
    }
    const failing = inChannel("step", "unknown", () => Promise.reject(new Error("own")));
    await expect(failing).rejects.toThrow("own");
  });
});
