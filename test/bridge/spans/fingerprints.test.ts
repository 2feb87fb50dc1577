import { describe, expect, it } from "vitest";
import type { AgentEvent, EventEnvelope } from "../../../src/index.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000001");
const exception = (type: string): EventEnvelope => ({ details: { exception: { type } } });

function fingerprintOf(
  name: string,
  ...events: readonly (readonly [AgentEvent, EventEnvelope?])[]
) {
  const test = bench();
  test.at(0, run.started());
  for (const [n, [event, envelope]] of events.entries()) test.at(n + 1, event, envelope);
  return test.find(name).attributes["entelix.failure.fingerprint"];
}

describe("the fingerprint of a failure", () => {
  it("of a run is kind, origin, model, class and wire code", () => {
    const failed = run.failed({
      envelope: { wire_code: "rate_limited", wire_class: "client", origin: "model" },
    });
    expect(
      fingerprintOf(
        "invoke_agent react",
        [run.modelError("m1", { model: "small-1" })],
        [failed, exception("RateLimitError")],
      ),
    ).toBe("model_dispatch|model|small-1|RateLimitError|rate_limited");
  });

  it("of a run that a tool ended has the tool, and the usual origin where none is said", () => {
    const failed = run.failed({
      kind: { type: "tool_error_terminal", kind: "auth", tool_name: "bigquery" },
    });
    expect(fingerprintOf("invoke_agent react", [failed])).toBe(
      "tool_error_terminal|tool|bigquery||upstream_unavailable",
    );
  });

  it("of a tool call is that of the call", () => {
    expect(
      fingerprintOf("execute_tool fetch", [run.toolError("c1"), exception("TimeoutError")]),
    ).toBe("transient|tool|fetch|TimeoutError|transport_failure");
  });

  it.each(["no such order: 17", "x".repeat(65), ""])("has no free text: %j", (type) => {
    expect(fingerprintOf("execute_tool fetch", [run.toolError("c1"), exception(type)])).toBe(
      "transient|tool|fetch||transport_failure",
    );
  });

  it.each([
    "request_018f3c7a-0000-7000-8000-000000000001",
    "E9f86d081884c7d65",
    "order:1234567890",
    "eve@acme.example",
  ])("has no ID: %j", (id) => {
    const events = [run.toolError("c1", { tool: id }), exception(id)] as const;
    expect(fingerprintOf(`execute_tool ${id}`, events)).toBe("transient|tool|||transport_failure");
  });

  it.each(["검색", "search/날씨", "docs::search", "claude-sonnet-4@20250514", "@cf/meta/llama-3"])(
    "has names of tools and models in any script: %j",
    (name) => {
      const failed = run.failed({
        envelope: { wire_code: "rate_limited", wire_class: "client", origin: "model" },
      });
      const events = [
        [run.modelError("m1", { model: name })],
        [failed, exception("reqwest::Error")],
      ] as const;
      expect(fingerprintOf("invoke_agent react", ...events)).toBe(
        `model_dispatch|model|${name}|reqwest::Error|rate_limited`,
      );
      expect(fingerprintOf(`execute_tool ${name}`, [run.toolError("c1", { tool: name })])).toBe(
        `transient|tool|${name}||transport_failure`,
      );
    },
  );

  it("is the same whatever the message, the ids and the order of other events", () => {
    const once = (id: string, error: string) =>
      fingerprintOf(
        "execute_tool fetch",
        [run.toolStart(id)],
        [run.modelStart("m")],
        [run.toolError(id, { error })],
      );
    expect(once("c1", "reset by 10.0.0.1")).toBe(once("c2", "reset by 10.0.0.2"));
  });

  it("is not on what did not fail", () => {
    expect(
      fingerprintOf("execute_tool fetch", [run.toolStart("c1")], [run.toolCancelled("c1")]),
    ).toBeUndefined();
    expect(fingerprintOf("invoke_agent react", [run.interrupted()])).toBeUndefined();
  });
});
