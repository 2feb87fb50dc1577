import { describe, expect, it } from "vitest";
import { eventDetails } from "../../../src/events/event-details.ts";
import { mcpAttributes } from "../../../src/events/signals/details.ts";

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
