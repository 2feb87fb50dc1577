import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runExample } from "../examples/run-example.ts";
import type { SpanNode } from "../support/spans.ts";
import { Stack } from "./support/stack.ts";
import { treesOf } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

describe("a graph with routes, a retriever and a sub-agent", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector"] });
  });
  afterAll(() => stack?.stop());

  it("is in Jaeger with its nodes, and what each did below it", async () => {
    const { code, err, out } = await runExample("langgraph-steps.mjs", [], {
      OTEL_EXPORTER_OTLP_ENDPOINT: stack.endpoint,
    });
    expect([code, err]).toEqual([0, ""]);
    const traceId = /^trace ([0-9a-f]{32})$/m.exec(out)?.[1] ?? "";
    const draw = ({ span, children }: SpanNode): unknown =>
      children.length === 0 ? span : [span, ...children.map(draw)];
    await untilHolds("the whole trace is there", async () => {
      expect(treesOf(await stack.jaeger.trace(traceId)).map(draw)).toEqual([
        [
          "invoke_agent support",
          "step route",
          ["step retrieve", "retrieval ShopPages"],
          [
            "step ask_expert",
            [
              "invoke_agent expert",
              ["step model_request", "chat FakeBuiltModel"],
              ["step tools", "execute_tool look_up"],
              ["step model_request", "chat FakeBuiltModel"],
            ],
          ],
          ["step answer", "chat FakeBuiltModel"],
        ],
      ]);
    });
  });
});
