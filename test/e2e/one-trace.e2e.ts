import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";
import { Stack } from "./support/stack.ts";
import { treesOf } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

describe("an agent of the AI SDK whose tool calls an MCP server in another process", () => {
  let folder: string;
  let project: AdaptersProject;
  let stack: Stack;
  let shop: Server;
  let url: string;
  const parents: string[] = [];

  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector"] });
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-one-trace-"));
    const node = await installedPath("newer-node");
    project = await AdaptersProject.create("ai-sdk-newest", await packed(folder), node);
    shop = createServer((request, response) => {
      parents.push(String(request.headers.traceparent));
      response.end("order 17 is on its way");
    });
    await new Promise<void>((resolve) => shop.listen(0, "127.0.0.1", resolve));
    const address = shop.address();
    if (typeof address !== "object" || address === null) throw new Error("expected a port");
    url = `http://127.0.0.1:${address.port}/orders`;
  });
  afterAll(async () => {
    shop?.close();
    await project?.remove();
    await rm(folder, { recursive: true });
    await stack?.stop();
  });

  it("is one trace in Jaeger, with the request that the server's handler makes", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: stack.endpoint };
    const needs = ["ai-sdk-mcp-server.mjs"];
    expect(await project.run("ai-sdk-mcp-agent.mjs", [url], needs, env)).toEqual({
      text: "It is on its way.",
    });
    expect(parents).toHaveLength(1);
    const [, traceId = "", fetchId] = parents[0]?.split("-") ?? [];
    await untilHolds("the whole trace is there", async () => {
      const spans = await stack.jaeger.trace(traceId);
      expect(treesOf(spans).map(draw)).toEqual([
        [
          "invoke_agent support",
          "chat small-1",
          [
            "execute_tool find_order",
            [
              "execute_tool orders_find",
              ["invoke_agent orders", ["execute_tool orders_find", "GET"]],
            ],
          ],
          "chat small-1",
        ],
      ]);
      expect(spans.find(({ name }) => name === "GET")?.spanId).toBe(fetchId);
    });
  });
});

interface Node {
  readonly span: string;
  readonly children: readonly Node[];
}

function draw({ children, span }: Node): unknown {
  return children.length === 0 ? span : [span, ...children.map(draw)];
}
