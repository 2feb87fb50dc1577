import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { inSpan, LangChainHandler } from "../../../src/entries/langchain.ts";
import { mcpCounts, mcpTransport } from "../../../src/entries/mcp.ts";
import { observe } from "./observed.ts";
import { Client, Pipe, played, Server, text } from "./peers.ts";

const TOOLS = { find_order: () => text("order 17 is on its way") };

describe("a tool of LangChain that calls an MCP tool", () => {
  async function called(name: string) {
    const seen = observe();
    const client = seen.client();
    const pipe = await seen.connected(client, new Server(TOOLS));
    const find = inSpan(
      tool(async () => JSON.stringify(await client.callTool({ name: "find_order" })), {
        name,
        description: "finds an order",
        schema: z.object({}),
      }),
    );
    const handler = new LangChainHandler({ sink: seen.sink, tenant: "acme" });
    await played(find.invoke({}, { callbacks: [handler] }));
    return { ...seen, client, pipe };
  }

  it("of the same name has one span, which the request carries", async () => {
    const { client, lines, pipe, spans } = await called("orders__find_order");
    expect(lines()).toEqual([
      "invoke_agent orders__find_order: complete",
      "  execute_tool orders__find_order: complete",
    ]);
    const call = spans().find(({ name }) => name.startsWith("execute_tool"));
    expect(JSON.stringify(pipe.sent[0])).toContain(call?.spanContext().spanId);
    expect(mcpCounts(client)).toMatchObject({ shownElsewhere: 1, reported: 0 });
  });

  it("of another name has the call below it", async () => {
    const { lines } = await called("answer_customer");
    expect(lines()).toEqual([
      "invoke_agent answer_customer: complete",
      "  execute_tool answer_customer: complete",
      "    execute_tool find_order: complete",
    ]);
  });
});

describe("a transport alone", () => {
  it("carries the context of the run, and reports nothing", async () => {
    const seen = observe();
    const client = new Client();
    const [near, far] = Pipe.pair();
    expect(mcpTransport(mcpTransport(near))).toBe(near);
    await new Server(TOOLS).connect(far);
    await client.open(near);
    await seen.run((run) => run.tool("find_order", () => client.callTool({ name: "find_order" })));
    expect(seen.lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool find_order: complete",
    ]);
    const call = seen.spans().find(({ name }) => name.startsWith("execute_tool"));
    expect(near.sent.at(-1)).toMatchObject({
      params: {
        name: "find_order",
        _meta: { traceparent: expect.stringContaining(call?.spanContext().spanId ?? "none") },
      },
    });
    expect(near.sent[0]).not.toHaveProperty("params._meta");
  });

  it("is a TypeError with a wrong option", () => {
    const options = JSON.parse('{"propagate":"all"}');
    expect(() => mcpTransport(new Pipe(), options)).toThrow("propagate: expected run or");
  });
});
