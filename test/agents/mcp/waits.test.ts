import { describe, expect, it } from "vitest";
import { fieldsOf } from "../../../src/agents/core/narrow.ts";
import { activeRun } from "../../../src/agents/runtime/active-run.ts";
import { mcpCounts } from "../../../src/entries/mcp.ts";
import { currentRun } from "../../../src/entries/runtime.ts";
import { observe } from "./observed.ts";
import { Client, Pipe, played, Server, settle, text } from "./peers.ts";

/** A server whose tool asks the client for something, and answers with what it got. */
function asking(method: string) {
  const server = new Server();
  server.tools.ask = async () => {
    const answer = await server.request({ method, params: { message: "Refund order 17?" } });
    return text(JSON.stringify(answer));
  };
  return server;
}

describe("an elicitation", () => {
  it.each(["accept", "decline", "cancel"])(
    "that ends with %s is a step inside the call",
    async (action) => {
      const seen = observe();
      const client = seen.client();
      client.setRequestHandler("elicitation/create", () => ({ action }));
      await seen.connected(client, asking("elicitation/create"));
      await seen.run(() => client.callTool({ name: "ask" }));
      expect(seen.lines()).toEqual([
        "invoke_agent support: complete",
        "  execute_tool ask: complete",
        "    step elicitation: complete",
      ]);
      expect(seen.attributes("step elicitation")).toMatchObject({
        "entelix.elicitation.action": action,
        "mcp.method.name": "elicitation/create",
        "jsonrpc.request.id": "0",
      });
      expect(seen.of("interrupted")).toEqual([]);
      expect(seen.of("step_start")[0]?.event.input).toEqual({ message: "Refund order 17?" });
      expect(seen.of("step_complete")[0]?.event.output).toEqual({ action });
    },
  );

  it("that the client cannot answer is a failed step with the code", async () => {
    const seen = observe();
    const client = seen.client();
    await seen.connected(client, asking("elicitation/create"));
    await seen.run(() => client.callTool({ name: "ask" }).catch(() => "refused"));
    expect(seen.lines().slice(-1)).toEqual(["    step elicitation: error ERROR"]);
    expect(seen.attributes("step elicitation")["rpc.response.status_code"]).toBe("-32601");
  });

  it("that is open when the call ends is cancelled with it", async () => {
    const seen = observe();
    const client = seen.client();
    client.setRequestHandler("elicitation/create", () => new Promise(() => {}));
    const pipe = await seen.connected(client, asking("elicitation/create"));
    const call = seen.run(async () => {
      const made = client.callTool({ name: "ask" });
      await settle();
      await pipe.close();
      return made;
    });
    await expect(call).rejects.toThrow("Connection closed");
    expect(seen.lines()).toEqual([
      "invoke_agent support: failed ERROR",
      "  execute_tool ask: error ERROR",
      "    step elicitation: cancelled",
    ]);
  });

  it("by a result that asks for input belongs to the one call, which makes two requests", async () => {
    const seen = observe();
    const client = seen.client();
    const where: unknown[] = [];
    client.setRequestHandler("elicitation/create", () => {
      where.push(currentRun()?.toolUseId);
      return { action: "accept" };
    });
    const server = new Server();
    server.handlers.set("tools/call", ({ inputResponses }) =>
      inputResponses === undefined
        ? { resultType: "input_required", inputRequests: { sure: ASK } }
        : text(JSON.stringify(inputResponses)),
    );
    const pipe = await seen.connected(client, server);
    const result = await seen.run(() => client.callTool({ name: "refund" }));
    expect(result).toEqual(text('{"sure":{"action":"accept"}}'));
    expect(seen.lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool refund: complete",
      "    step elicitation: complete",
    ]);
    expect(where).toEqual([seen.of("tool_start")[0]?.event.tool_use_id]);
    expect(seen.attributes("step elicitation")["entelix.elicitation.action"]).toBe("accept");
    expect(seen.attributes("execute_tool refund")["jsonrpc.request.id"]).toBe("2");
    // Both requests belong to the same span.
    const parents = pipe.sent.map(({ params }) => JSON.stringify(fieldsOf(params)?._meta));
    expect(parents).toHaveLength(2);
    expect(parents[0]).toContain("traceparent");
    expect(parents[1]).toBe(parents[0]);
  });
});

describe("a sampling request", () => {
  it("runs the client's code as part of the call", async () => {
    const seen = observe();
    const client = seen.client();
    const where: unknown[] = [];
    client.setRequestHandler("sampling/createMessage", () => {
      where.push(currentRun()?.toolUseId, activeRun()?.stepId);
      return { role: "assistant" };
    });
    await seen.connected(client, asking("sampling/createMessage"));
    await seen.run(() => client.callTool({ name: "ask" }));
    expect(where).toEqual([
      seen.of("tool_start")[0]?.event.tool_use_id,
      seen.of("step_start")[0]?.event.step_id,
    ]);
    expect(seen.lines().slice(-1)).toEqual(["    step sampling: complete"]);
  });
});

describe("a request of the server over a pipe", () => {
  it("belongs to no call where several are open, and is counted", async () => {
    const seen = observe();
    const client = seen.client();
    client.setRequestHandler("elicitation/create", () => ({ action: "accept" }));
    await seen.connected(client, asking("elicitation/create"));
    await seen.run(() =>
      Promise.all([client.callTool({ name: "ask" }), client.callTool({ name: "ask" })]),
    );
    expect(mcpCounts(client)).toMatchObject({ reported: 2, unplaced: 2 });
    expect(seen.of("step_start")).toEqual([]);
  });

  it("belongs to no call where none is open", async () => {
    const seen = observe();
    const client = seen.client();
    client.setRequestHandler("elicitation/create", () => ({ action: "accept" }));
    const server = new Server();
    await seen.connected(client, server);
    expect(await played(server.request({ method: "elicitation/create" }))).toEqual({
      action: "accept",
    });
    expect(seen.told).toEqual([]);
    expect(mcpCounts(client)).toMatchObject({ unplaced: 1 });
  });
});

describe("what a handler of a wrapped server waits for", () => {
  it("is a step inside its call as well", async () => {
    const seen = observe();
    const client = new Client();
    client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
    const server = seen.server({});
    server.tools.ask = async () => text(JSON.stringify(await server.request(ASK)));
    const [near, far] = Pipe.pair();
    await server.connect(far);
    await client.open(near);
    await played(client.callTool({ name: "ask" }));
    expect(seen.lines()).toEqual([
      "invoke_agent shop: complete",
      "  execute_tool ask: complete",
      "    step elicitation: complete",
    ]);
    expect(seen.attributes("step elicitation")["entelix.elicitation.action"]).toBe("decline");
  });
});

const ASK = { method: "elicitation/create", params: { message: "Sure?" } };
