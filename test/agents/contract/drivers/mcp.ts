import { type McpCounts, mcpClient, mcpCounts, mcpServer } from "../../../../src/entries/mcp.ts";
import { Client, Pipe, played, Server, text } from "../../mcp/peers.ts";
import { type Counts, codeOf, type Driver, INPUT, type Scene, settled, WHOLE } from "../driver.ts";

const HAS = { ...WHOLE, models: false, usage: false, price: false } as const;

const tools = (scene: Scene) => ({
  add: async () => text(String(await codeOf(scene)())),
});

async function called(client: Client, server: Server) {
  const [near, far] = Pipe.pair();
  await server.connect(far);
  await client.open(near);
  return settled(played(client.callTool({ name: "add", arguments: INPUT })));
}

function countsOf(counts: McpCounts | undefined): Counts {
  if (counts === undefined) throw new Error("not a wrapped client or server");
  const { faults, refused, sinkFailures } = counts;
  return { refused, sinkFailures, faults };
}

export const mcpOfClient: Driver = {
  name: "MCP client",
  has: HAS,
  async play(options, scene) {
    const client = mcpClient(new Client(), options);
    const { given, thrown } = await called(client, new Server(tools(scene)));
    const answer = given?.isError === true || given === undefined ? undefined : "answer-mark";
    return { answer, thrown, counts: countsOf(mcpCounts(client)) };
  },
};

export const mcpOfServer: Driver = {
  name: "MCP server",
  has: { ...HAS, surroundings: true },
  async play(options, scene) {
    const server = mcpServer(new Server(tools(scene)), options);
    const { given, thrown } = await called(new Client(), server);
    const answer = given?.isError === true || given === undefined ? undefined : "answer-mark";
    return { answer, thrown, counts: countsOf(mcpCounts(server)) };
  },
};
