import { createServer, type IncomingMessage } from "node:http";
import { tool } from "@langchain/core/tools";
import { context } from "@opentelemetry/api";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { extract, type InjectOptions, inject } from "../../../src/entries/context.ts";
import { inSpan, LangChainHandler } from "../../../src/entries/langchain.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { setupTracing, type Tracing } from "../../../src/entries/setup.ts";
import { CaptureSink } from "../../../src/events/sinks/capture-sink.ts";
import { FailOpenSink } from "../../../src/events/sinks/fail-open-sink.ts";
import { FanOutSink } from "../../../src/events/sinks/fan-out-sink.ts";
import { flat } from "../../support/run-events.ts";
import { toTrees } from "../../support/spans.ts";

const memory = new InMemorySpanExporter();
const undici = new UndiciInstrumentation();
let tracing: Tracing;

beforeAll(() => {
  vi.stubEnv("OTEL_TRACES_EXPORTER", "none");
  undici.disable();
  tracing = setupTracing({ spanProcessors: [new SimpleSpanProcessor(memory)] });
});
afterAll(async () => {
  await tracing.shutdown();
  context.disable();
  vi.unstubAllEnvs();
});
afterEach(() => {
  undici.disable();
  memory.reset();
});

/** An agent behind HTTP, with a bridge of its own: it knows of the caller what a request says. */
async function serveExpert() {
  const bridge = tracing.createBridge();
  const answer = ({ headers }: IncomingMessage) =>
    runAgent({ sink: bridge, agent: "expert", tenant: "acme", parent: extract(headers) }, (run) =>
      run.tool("lookup", () => ({ threadId: run.threadId, rootRunId: run.rootRunId })),
    );
  const server = createServer((request, response) => {
    answer(request).then(
      (found) => response.end(JSON.stringify(found)),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a TCP port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function ask(url: string, options?: InjectOptions): Promise<unknown> {
  const response = await fetch(url, { headers: inject({}, options) });
  return response.json();
}

/** The tree with its names alone. */
const shape = () =>
  toTrees(memory.getFinishedSpans()).map(function names({ span, children }): unknown {
    return children.length === 0 ? span : [span, ...children.map(names)];
  });

const TREE = (middle: (below: unknown) => unknown) => [
  [
    "invoke_agent support",
    ["execute_tool ask", middle(["invoke_agent expert", "execute_tool lookup"])],
  ],
];

describe("an agent that asks another by HTTP", () => {
  it.each([
    ["a bridge", () => tracing.createBridge()],
    [
      "sinks around it",
      () => new FanOutSink([new CaptureSink(), new FailOpenSink(tracing.createBridge())]),
    ],
  ])("makes one tree with it, through %s", async (_, sinkOf) => {
    await using expert = await serveExpert();
    const sink = sinkOf();
    let rootRunId = "";
    const found = await runAgent(
      { sink, agent: "support", tenant: "acme", threadId: "th-1" },
      (run) => {
        rootRunId = run.runId;
        return run.tool("ask", () => ask(expert.url));
      },
    );
    expect(found).toEqual({ threadId: "th-1", rootRunId });
    expect(shape()).toEqual(TREE((below) => below));
  });

  it("has the request between them, where the client is instrumented", async () => {
    undici.enable();
    await using expert = await serveExpert();
    const sink = tracing.createBridge();
    await runAgent({ sink, agent: "support", tenant: "acme" }, (run) =>
      run.tool("ask", () => ask(expert.url, { traceparent: false })),
    );
    expect(shape()).toEqual(TREE((below) => ["GET", below]));
  });

  it("stands under the right one of tools that run at once", async () => {
    await using expert = await serveExpert();
    const sink = tracing.createBridge();
    await runAgent({ sink, agent: "support", tenant: "acme" }, (run) =>
      Promise.all(["a", "b", "c"].map((name) => run.tool(name, () => ask(expert.url)))),
    );
    const below = ["invoke_agent expert", "execute_tool lookup"];
    const tools = ["a", "b", "c"].map((name) => [`execute_tool ${name}`, below]);
    expect(shape()).toEqual([["invoke_agent support", ...tools]]);
  });

  it("is nobody's child where nobody carries anything", async () => {
    await using expert = await serveExpert();
    await (await fetch(expert.url)).json();
    expect(shape()).toEqual([["invoke_agent expert", "execute_tool lookup"]]);
  });
});

describe("a fetch of the runtime's", () => {
  it("is a child of the tool call, or of the model call, that made it", async () => {
    undici.enable();
    await using expert = await serveExpert();
    const get = async () => void (await (await fetch(expert.url)).text());
    const sink = tracing.createBridge();
    await runAgent({ sink, agent: "support", tenant: "acme" }, async (run) => {
      await run.tool("search", get);
      await run.model("small-1", get);
      await run.within(get);
    });
    const spans = flat(toTrees(memory.getFinishedSpans()));
    const parents = spans
      .filter(({ span }) => span === "GET")
      .map(({ parent }) => spans.find(({ span_id }) => span_id === parent)?.span);
    expect(parents).toEqual(["execute_tool search", "chat small-1", "invoke_agent support"]);
  });

  it("is one of a LangChain tool that runs in its span", async () => {
    undici.enable();
    await using expert = await serveExpert();
    const handler = new LangChainHandler({ sink: tracing.createBridge(), tenant: "acme" });
    const search = tool(async () => JSON.stringify(await ask(expert.url, { traceparent: false })), {
      name: "search",
      description: "asks the expert",
      schema: z.object({}),
    });
    await inSpan(search).invoke({}, { callbacks: [handler] });
    await handler.flush();
    expect(shape()).toEqual([
      [
        "invoke_agent search",
        ["execute_tool search", ["GET", ["invoke_agent expert", "execute_tool lookup"]]],
      ],
    ]);
  });
});
