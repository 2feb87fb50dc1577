import { describe, expect, it } from "vitest";
import { eventDetails } from "../../../src/events/door.ts";
import { mcpAttributes } from "../../../src/events/signals/details.ts";
import { bench, second } from "../../support/run-events.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const OUTER = { ...RUN, tool_use_id: "outer", tool: "research" };
const INNER = { ...RUN, tool_use_id: "inner", tool: "find_order" };
const IN_OUTER = { details: { tool_use_id: "outer" } };

describe("a tool call that names the call that makes it", () => {
  it.each([
    ["stands below it", true],
    ["stands below it, too, where its start was lost", false],
  ])("%s", async (_, isStarted) => {
    const { find, sink } = bench();
    const at = (n: number) => ({ timestamp: second(n), event_id: `e${n}` });
    await sink.send({ type: "started", ...RUN, agent: "support" }, at(0));
    await sink.send({ type: "tool_start", ...OUTER, input: null }, at(1));
    if (isStarted) {
      await sink.send({ type: "tool_start", ...INNER, input: null }, { ...at(2), ...IN_OUTER });
    }
    const end = { output: null, duration_ms: 1_000 };
    await sink.send({ type: "tool_complete", ...INNER, ...end }, { ...at(3), ...IN_OUTER });
    await sink.send({ type: "tool_complete", ...OUTER, ...end }, at(4));
    await sink.send({ type: "complete", ...RUN, state: null }, at(5));
    expect(find("execute_tool find_order").parent).toBe(find("execute_tool research").span_id);
  });

  it("stands below its run where that call is not open", async () => {
    const { find, sink } = bench();
    const at = (n: number) => ({ timestamp: second(n), event_id: `e${n}` });
    await sink.send({ type: "started", ...RUN, agent: "support" }, at(0));
    await sink.send({ type: "tool_start", ...INNER, input: null }, { ...at(1), ...IN_OUTER });
    await sink.send({ type: "tool_complete", ...INNER, output: null, duration_ms: 1 }, at(2));
    await sink.send({ type: "complete", ...RUN, state: null }, at(3));
    expect(find("execute_tool find_order").parent).toBe(find("invoke_agent support").span_id);
  });
});

describe("details.mcp", () => {
  it("becomes the attributes of the conventions", () => {
    const mcp = {
      method: "tools/call",
      protocol_version: "2025-11-25",
      session_id: "s1",
      request_id: "7",
      status_code: "-32603",
      transport: "tcp",
      server_address: "orders.example",
      server_port: 443,
      elicitation: "decline" as const,
    };
    expect(eventDetails.fits({ mcp })).toBe(true);
    expect(mcpAttributes({ mcp })).toEqual({
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2025-11-25",
      "mcp.session.id": "s1",
      "jsonrpc.request.id": "7",
      "rpc.response.status_code": "-32603",
      "network.transport": "tcp",
      "server.address": "orders.example",
      "server.port": 443,
      "entelix.elicitation.action": "decline",
    });
  });

  it.each([[{ method: 7 }], [{ server_port: 70_000 }], [{ elicitation: "maybe" }], ["tools/call"]])(
    "is refused on the wire where it is malformed: %j",
    (mcp) => {
      expect(eventDetails.fits({ mcp })).toBe(false);
    },
  );

  it("counts as absent, field by field, where a program without types gives something else", () => {
    const given = JSON.parse('{"mcp":{"method":7,"server_port":"443","request_id":"1"}}');
    const set = Object.entries(mcpAttributes(given) ?? {}).filter(
      ([, value]) => value !== undefined,
    );
    expect(set).toEqual([["jsonrpc.request.id", "1"]]);
    expect(mcpAttributes(JSON.parse('{"mcp":"yes"}'))).toBeUndefined();
    expect(mcpAttributes({})).toBeUndefined();
  });
});
