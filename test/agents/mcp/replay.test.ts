import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { mcpClient, mcpServer } from "../../../src/entries/mcp.ts";
import { recorder } from "../../support/recorded-and-replayed.ts";
import { Client, McpError, Pipe, played, Server, text } from "./peers.ts";

const TOOLS = {
  find_order: () => text("order 17 is on its way"),
  refuse: () => ({ ...text("no such order"), isError: true }),
  busy: () => {
    throw new McpError(-32603, "the disk is full");
  },
};

describe("the recording of calls", () => {
  it.each([false, true])(
    "makes the same spans when it is replayed, content %s",
    async (content) => {
      const { replayed, sink, spans } = recorder({ captureContent: content });
      const client = mcpClient(new Client());
      client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
      const server = mcpServer(new Server(TOOLS), { sink, tenant: "acme", trust: true });
      server.tools.ask = async () => {
        const asked = await server.request({ method: "elicitation/create", params: {} });
        return text(JSON.stringify(asked));
      };
      const [near, far] = Pipe.pair();
      near.sessionId = "session-1";
      await server.connect(far);
      await client.open(near);
      await played(
        runAgent({ sink, agent: "support", tenant: "acme" }, async (run) => {
          await client.callTool({ name: "find_order", arguments: { id: 17 } });
          await client.callTool({ name: "refuse" });
          await client.callTool({ name: "busy" }).catch(() => {});
          await run.tool("research", () => client.callTool({ name: "ask" }));
        }),
      );
      const { lines, names } = await replayed();
      expect(lines).toBe(32);
      expect([...names].sort()).toEqual([
        ...Array(2).fill("execute_tool ask"),
        ...Array(2).fill("execute_tool busy"),
        ...Array(2).fill("execute_tool find_order"),
        ...Array(2).fill("execute_tool refuse"),
        "execute_tool research",
        ...Array(4).fill("invoke_agent shop"),
        "invoke_agent support",
        ...Array(2).fill("step elicitation"),
      ]);
      const busy = spans().filter(({ name }) => name === "execute_tool busy");
      expect(busy.map(({ attributes }) => attributes["rpc.response.status_code"])).toEqual([
        "-32603",
        "-32603",
      ]);
      expect(busy.map(({ attributes }) => attributes["mcp.session.id"])).toContain("session-1");
    },
  );
});
