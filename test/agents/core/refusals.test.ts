import { afterEach, expect, it, vi } from "vitest";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { keepingSink } from "../../support/told.ts";

const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
afterEach(() => void emitted.mockClear());

const start = (callId: string) => ({
  callId,
  operationId: "ai.generateText",
  functionId: "support",
  messages: [],
});
const HINT =
  "`runtimeContext` has only the fields that the call's `telemetry.includeRuntimeContext` names (AI SDK 6: `metadata`)";
const REASON = "tenant: expected a text that is not empty, got undefined";

it("a run without a tenant is said once, with the reason and what to do", async () => {
  const { sink, sent } = keepingSink("all");
  const tenant = ({ runtimeContext }: { runtimeContext: Readonly<Record<string, unknown>> }) =>
    // A program in plain JavaScript returns whatever is there.
    JSON.parse(JSON.stringify([runtimeContext.tenantId ?? null]))[0] ?? undefined;
  const telemetry = new AiSdkTelemetry({ sink, tenant });
  await telemetry.onStart(start("c1"));
  await telemetry.onStart(start("c2"));
  expect(telemetry.counts.refused).toBe(2);
  expect(sent).toEqual([]);
  expect(emitted.mock.calls).toEqual([
    [
      `entelix-otel: a run without a tenant is not reported: TypeError: ${REASON}; ${HINT}`,
      { type: "EntelixWarning", code: "ENTELIX_NO_TENANT" },
    ],
  ]);
});

it("it goes to onError where there is one, each time", async () => {
  const onError = vi.fn();
  const { sink } = keepingSink("all");
  const telemetry = new AiSdkTelemetry({ sink, tenant: () => JSON.parse("[]")[0], onError });
  await telemetry.onStart(start("c1"));
  await telemetry.onStart(start("c2"));
  const error = new TypeError(`${REASON}; ${HINT}`);
  expect(onError.mock.calls).toEqual([[error], [error]]);
  expect(emitted).not.toHaveBeenCalled();
});

it("an error of the function itself is said as it is", () => {
  const { sink } = keepingSink("all");
  const tenant = (): string => {
    throw new Error("no such session");
  };
  const handler = new LangChainHandler({ sink, tenant });
  void handler.handleChainStart(
    { lc: 1, type: "not_implemented", id: ["a"] },
    {},
    "018f3c7a-0000-7000-8000-00000000002a",
  );
  expect(emitted.mock.calls.map(([message]) => message)).toEqual([
    "entelix-otel: a run without a tenant is not reported: Error: no such session",
  ]);
});

it("an error of the sink is said once", () => {
  const sink = {
    send: () => {
      throw new Error("the queue is closed");
    },
  };
  const handler = new LangChainHandler({ sink, tenant: "acme" });
  void handler.handleChainStart(
    { lc: 1, type: "not_implemented", id: ["a"] },
    {},
    "018f3c7a-0000-7000-8000-00000000002b",
  );
  expect(handler.counts.sinkFailures).toBe(1);
  expect(emitted.mock.calls.map(([message]) => message)).toEqual([
    "entelix-otel: adapter: Error: the queue is closed",
  ]);
});
