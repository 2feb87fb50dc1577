// The server of the scenes: its tools, wrapped or not.
import { setTimeout as sleep } from "node:timers/promises";

/** @param more further tools, by name: handlers that get arguments and the server. */
export function shopServer({ McpServer, ask, inputSchema }, wrap = (server) => server, more = {}) {
  const server = wrap(new McpServer({ name: "shop", version: "1.0.0" }));
  const text = (said) => ({ content: [{ type: "text", text: said }] });
  const tools = {
    find_order: ({ id }) => text(`order ${id} is on its way`),
    refuse: () => ({ ...text("no such order"), isError: true }),
    throws: () => {
      throw new RangeError("the shelf is empty");
    },
    slow: async (_, extra) => {
      await sleep(60_000, undefined, { signal: (extra.mcpReq ?? extra).signal });
      return text("late");
    },
    dies: () => process.exit(3),
    refund: async () => {
      const { action } = await ask(server);
      return text(`the person said ${action}`);
    },
    ...more,
  };
  for (const [name, handler] of Object.entries(tools)) {
    server.registerTool(name, { description: `does ${name}`, inputSchema }, handler);
  }
  return server;
}
