// The MCP SDK in one of its two major versions, as the scenes of `mcp-scenes.mjs` use it. Plain JavaScript, since it
// runs in a project that has the packages.

/** @param {"1" | "2"} major */
export async function sdk(major) {
  return major === "1" ? version1() : version2();
}

async function version1() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const { StreamableHTTPServerTransport } = await import(
    "@modelcontextprotocol/sdk/server/streamableHttp.js"
  );
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const { z } = await import("zod");
  return {
    major: "1",
    InMemoryTransport,
    McpServer,
    StdioClientTransport,
    StdioServerTransport,
    StreamableHTTPClientTransport,
    inputSchema: { id: z.number().optional() },
    /** A client that answers elicitations. */
    client: (answer) => {
      const client = new Client(INFO, { capabilities: { elicitation: {} } });
      if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, answer);
      return client;
    },
    call: (client, params, options) =>
      client.callTool({ arguments: {}, ...params }, undefined, options),
    /** Asks the user from a handler. */
    ask: (server) => server.server.elicitInput(QUESTION),
    /** A handler of Node's HTTP server, with one session for each client that connects. */
    async http(makeServer) {
      const sessions = new Map();
      return async (request, response) => {
        const id = request.headers["mcp-session-id"];
        let transport = sessions.get(id);
        if (transport === undefined) {
          transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: () => "session-1",
            onsessioninitialized: (given) => void sessions.set(given, transport),
          });
          await makeServer().connect(transport);
        }
        await transport.handleRequest(request, response);
      };
    },
  };
}

async function version2() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const { createMcpHandler, fromJsonSchema, InMemoryTransport, inputRequired, McpServer } =
    await import("@modelcontextprotocol/server");
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  return {
    major: "2",
    InMemoryTransport,
    McpServer,
    StdioClientTransport,
    StdioServerTransport,
    StreamableHTTPClientTransport,
    inputRequired,
    inputSchema: fromJsonSchema({ type: "object", properties: { id: { type: "number" } } }),
    client: (answer, more) => {
      const client = new Client(INFO, { capabilities: { elicitation: {} }, ...more });
      if (answer !== undefined) client.setRequestHandler("elicitation/create", answer);
      return client;
    },
    call: (client, params, options) => client.callTool({ arguments: {}, ...params }, options),
    ask: (server) => server.server.elicitInput(QUESTION),
    async http(makeServer) {
      const handler = createMcpHandler(() => makeServer());
      return async (request, response) => {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const answer = await handler.fetch(
          new Request(`http://127.0.0.1${request.url}`, {
            method: request.method,
            headers: request.headers,
            ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
          }),
        );
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const part of answer.body ?? []) response.write(part);
        response.end();
      };
    },
  };
}

const INFO = { name: "tester", version: "1.0.0" };

const QUESTION = {
  message: "Refund order 17?",
  requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } },
};
