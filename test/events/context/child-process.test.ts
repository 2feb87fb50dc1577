import { describe, expect, it } from "vitest";
import { codeBlocks, readPage } from "../../docs/pages.ts";
import { runExample } from "../../examples/run-example.ts";
import { OtlpServer, type WireSpan } from "../../support/otlp-server.ts";

/** The output with what is new each time made plain: trace ids and durations. */
function settled(out: string): string {
  return out.replace(/\b[0-9a-f]{32}\b/g, "ID").replace(/\d+ ms/g, "N ms");
}

/** Which service made a span, and below which. */
function placesOf(spans: readonly WireSpan[]) {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return Object.fromEntries(
    spans.map(({ name, parentSpanId = "", resource }) => [
      name,
      [resource["service.name"], names.get(parentSpanId)],
    ]),
  );
}

describe("an agent in a child process", () => {
  it("goes on in the trace, below the tool call that started it", async () => {
    await using server = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
    const { code, err, out } = await runExample("child-process.mjs", [], env);
    expect([code, err]).toEqual([0, ""]);
    expect(placesOf(server.spans)).toEqual({
      "invoke_agent support": ["support-agent", undefined],
      "execute_tool ask_expert": ["support-agent", "invoke_agent support"],
      "invoke_agent expert": ["expert-agent", "execute_tool ask_expert"],
      "execute_tool lookup_order": ["expert-agent", "invoke_agent expert"],
    });
    const root = server.span("invoke_agent support");
    const child = server.span("invoke_agent expert");
    const [rootRun, childRun] = [root, child].map(({ attributes }) => attributes["entelix.run_id"]);
    expect(root.traceId).toBe(String(rootRun).replaceAll("-", ""));
    expect(server.spans.map(({ traceId }) => traceId)).toEqual(Array(4).fill(root.traceId));
    expect(child.spanId).toBe(String(childRun).replaceAll("-", "").slice(16));
    expect(child.attributes).toMatchObject({
      "entelix.parent_run_id": rootRun,
      "gen_ai.conversation.id": "ticket-17",
      "entelix.tenant_id": "acme",
    });
    expect(child.attributes).not.toHaveProperty("entelix.parent.missing");
    expect(server.faults).toEqual([]);
    const printed = new Set(out.match(/\b[0-9a-f]{32}\b/g));
    expect([...printed]).toEqual([root.traceId]);
    const shown = codeBlocks(readPage("docs/context.md")).find(({ text }) =>
      text.startsWith("the expert's process:"),
    );
    expect(settled(out)).toBe(settled(shown?.text ?? "no transcript"));
  });

  it.each([
    ["nothing", {}],
    [
      "what can't be used",
      { ENTELIX_PARENT_RUN_ID: "a b", ENTELIX_ROOT_RUN_ID: "x", TRACEPARENT: "y" },
    ],
  ])("that is told %s is a trace of its own", async (_, carried) => {
    await using server = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url, ...carried };
    const { code, err } = await runExample("child-agent.mjs", ["17"], env);
    expect([code, err]).toEqual([0, ""]);
    const root = server.span("invoke_agent expert");
    expect(root.parentSpanId).toBeUndefined();
    expect(root.traceId).toBe(String(root.attributes["entelix.run_id"]).replaceAll("-", ""));
    expect(server.span("execute_tool lookup_order").parentSpanId).toBe(root.spanId);
  });
});
