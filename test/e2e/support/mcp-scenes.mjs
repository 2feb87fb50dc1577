// node mcp-scenes.mjs MAJOR [REFUSAL] [SCENE]: plays every scene with the MCP SDK of that major version that is
// installed beside it, and prints what spans each made as JSON.
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { mcpClient, mcpCounts, mcpServer } from "entelix-otel/mcp";
import { entelixDialect, readEvents } from "entelix-otel/replay";
import { runAgent } from "entelix-otel/runtime";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";
import { sdk } from "./mcp-sdk.mjs";
import { shopServer } from "./mcp-tools.mjs";

const major = process.argv[2];
// For the context of the running code.
new NodeTracerProvider().register();
const kit = await sdk(major);
/** SDK 1.13 has another word for a refusal. */
const refusal = process.argv[3] ?? "decline";

/** A bridge that keeps its spans. */
function telemetry(captureContent) {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const bridge = new Bridge({ tracerProvider, captureContent });
  return { bridge, spans: () => exporter.getFinishedSpans() };
}

/** What the scenes work with: one bridge, with a recorder beside it. */
class Stage {
  troubles = [];
  /** The keys of `_meta` that a server got with each call. */
  carried = [];
  wrapped = [];
  closing = [];
  #tape = new PassThrough();

  constructor(captureContent) {
    this.captureContent = captureContent;
    const { bridge, spans } = telemetry(captureContent);
    this.spans = spans;
    this.recorder = new RecorderSink({
      stream: this.#tape,
      source: bridge,
      content: captureContent,
    });
    this.sink = new FanOutSink([bridge, this.recorder]);
  }

  options(more = {}) {
    return { onError: (error) => this.troubles.push(String(error)), ...more };
  }

  client(answer, options = {}, more = undefined) {
    const client = mcpClient(kit.client(answer, more), this.options(options));
    this.wrapped.push(client);
    this.closing.push(() => client.close());
    return client;
  }

  server(options = {}, tools = {}) {
    const wrap = (server) => {
      this.wrapped.push(server);
      const trust = ({ meta }) => {
        this.carried.push(
          Object.keys(meta)
            .filter((key) => !key.startsWith("io."))
            .sort(),
        );
        return true;
      };
      const given = { sink: this.sink, tenant: "acme", trust, ...options };
      return mcpServer(server, this.options(given));
    };
    return shopServer(kit, wrap, tools);
  }

  async inMemory(client, server) {
    const [near, far] = kit.InMemoryTransport.createLinkedPair();
    // Messages are read in no context of the sender, as in another process.
    apart(near);
    apart(far);
    await server.connect(far);
    await client.connect(near);
    return client;
  }

  async stdio(client) {
    const transport = new kit.StdioClientTransport({
      command: process.execPath,
      args: ["mcp-server-program.mjs", major],
      stderr: "inherit",
    });
    await client.connect(transport);
    return client;
  }

  /** By Streamable HTTP on this machine. */
  async http(client, makeServer) {
    const handle = await kit.http(makeServer);
    const server = createServer((request, response) => void handle(request, response));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address();
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    this.closing.push(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    await client.connect(new kit.StreamableHTTPClientTransport(url));
    return client;
  }

  run(work, more = {}) {
    return runAgent({ sink: this.sink, agent: "support", tenant: "acme", ...more }, work);
  }

  /** Plays the recording into another bridge. @returns whether its spans equal those of this one. */
  async replaysEqual() {
    await this.recorder.forceFlush();
    this.#tape.end();
    const again = telemetry(this.captureContent);
    const rejected = [];
    await readEvents(this.#tape, {
      dialects: [entelixDialect],
      onEvent: ({ event, envelope }) => again.bridge.send(event, envelope),
      onIssue: (issue) => rejected.push(issue),
    });
    const live = new Map(this.spans().map((span) => [span.spanContext().spanId, print(span)]));
    const replayed = new Map(again.spans().map((span) => [span.spanContext().spanId, print(span)]));
    const different = [...live].filter(([id, text]) => replayed.get(id) !== text);
    return rejected.length === 0 && different.length === 0 && live.size === replayed.size
      ? true
      : { rejected, different: different.map(([id, text]) => [text, replayed.get(id) ?? null]) };
  }
}

function print(span) {
  const { attributes, duration, kind, links, name, parentSpanContext, startTime, status } = span;
  return JSON.stringify({
    name,
    kind,
    startTime,
    duration,
    status,
    parent: parentSpanContext?.spanId,
    links: links.map(({ context }) => context.spanId),
    attributes: Object.entries(attributes).sort(),
  });
}

/** What arrives is handled in no context of the sender's. */
function apart(transport) {
  const outside = AsyncLocalStorage.snapshot();
  const { send } = transport;
  transport.send = (...args) =>
    new Promise((resolve, reject) => {
      outside(() => setImmediate(() => send.apply(transport, args).then(resolve, reject)));
    });
}

const say = (action) => async () => ({ action, ...(action === "accept" ? { content: {} } : {}) });
const said = (result) => result.content?.[0]?.text;

const scenes = {
  async success(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run(async () =>
      said(await kit.call(client, { name: "find_order", arguments: { id: 17 } })),
    );
  },
  async parallel(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run(() =>
      Promise.all(
        [1, 2, 3].map(async (id) =>
          said(await kit.call(client, { name: "find_order", arguments: { id } })),
        ),
      ),
    );
  },
  async "is error"(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run(async () => said(await kit.call(client, { name: "refuse" })));
  },
  async "handler throws"(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run(async () => said(await kit.call(client, { name: "throws" })));
  },
  async "unknown tool"(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run(async () => said(await kit.call(client, { name: "no_such_tool" })));
  },
  async timeout(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run(async () =>
      said(await kit.call(client, { name: "slow" }, { timeout: 1_000 })),
    );
  },
  async abort(stage) {
    const caller = new AbortController();
    const slow = (_, extra) => {
      // The server has the call.
      setImmediate(() => caller.abort());
      return sleep(60_000, undefined, { signal: (extra.mcpReq ?? extra).signal });
    };
    const client = await stage.inMemory(stage.client(), stage.server({}, { slow }));
    return stage.run(async () =>
      said(await kit.call(client, { name: "slow" }, { signal: caller.signal })),
    );
  },
  async "server dies"(stage) {
    const client = await stage.stdio(stage.client());
    return stage.run(async () => said(await kit.call(client, { name: "dies" })));
  },
  async stdio(stage) {
    const client = await stage.stdio(stage.client());
    const found = await stage.run(async () =>
      said(await kit.call(client, { name: "find_order", arguments: { id: 17 } })),
    );
    const theirs = JSON.parse(said(await kit.call(client, { name: "spans" })));
    stage.others = theirs;
    return found;
  },
  async http(stage) {
    const client = await stage.http(stage.client(), () => stage.server());
    return stage.run(async () =>
      said(await kit.call(client, { name: "find_order", arguments: { id: 17 } })),
    );
  },
  async "elicitation accepted"(stage) {
    const client = await stage.inMemory(stage.client(say("accept")), stage.server());
    return stage.run(async () => said(await kit.call(client, { name: "refund" })));
  },
  async "elicitation declined by stdio"(stage) {
    const client = await stage.stdio(stage.client(say(refusal)));
    return stage.run(async () => said(await kit.call(client, { name: "refund" })));
  },
  async "two tenants"(stage) {
    const client = await stage.inMemory(stage.client(), stage.server({ trust: false }));
    const of = (tenant, id) =>
      stage.run(
        async () => said(await kit.call(client, { name: "find_order", arguments: { id } })),
        { tenant },
      );
    return Promise.all([of("acme", 1), of("globex", 2)]);
  },
  async nested(stage) {
    const inner = await stage.inMemory(stage.client(), stage.server());
    const forward = async () => ({
      content: [{ type: "text", text: said(await kit.call(inner, { name: "find_order" })) }],
    });
    const client = await stage.inMemory(stage.client(), stage.server({}, { find_order: forward }));
    return stage.run(async () => said(await kit.call(client, { name: "find_order" })));
  },
  async untrusted(stage) {
    const client = await stage.inMemory(stage.client(), stage.server({ trust: false }));
    return stage.run(async () => said(await kit.call(client, { name: "find_order" })));
  },
  async "outside a run"(stage) {
    const options = { sink: stage.sink, tenant: "acme" };
    const client = await stage.inMemory(stage.client(undefined, options), stage.server());
    return said(await kit.call(client, { name: "find_order" }));
  },
  async "inside the framework's tool"(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run((run) =>
      run.tool("shop__find_order", async () =>
        said(await kit.call(client, { name: "find_order" })),
      ),
    );
  },
  async "inside another tool"(stage) {
    const client = await stage.inMemory(stage.client(), stage.server());
    return stage.run((run) =>
      run.tool("research", async () => said(await kit.call(client, { name: "find_order" }))),
    );
  },
};

if (major === "2") {
  scenes["input required"] = async (stage) => {
    const modern = { versionNegotiation: { mode: "auto" } };
    const refund = (_, ctx) => {
      const answer = ctx.mcpReq.inputResponses?.sure;
      return answer === undefined
        ? kit.inputRequired({
            inputRequests: {
              sure: kit.inputRequired.elicit({
                message: "Refund order 17?",
                requestedSchema: { type: "object", properties: {} },
              }),
            },
          })
        : { content: [{ type: "text", text: `the person said ${answer.action}` }] };
    };
    const client = stage.client(say("accept"), {}, modern);
    await stage.http(client, () => stage.server({}, { refund }));
    return stage.run(async () => said(await kit.call(client, { name: "refund" })));
  };
}

const only = process.argv[4];
const printed = {};
for (const [name, scene] of Object.entries(scenes)) {
  if (only !== undefined && only !== name) continue;
  for (const content of name === "success" ? [false, true] : [false]) {
    const stage = new Stage(content);
    let answer = null;
    let thrown = null;
    try {
      answer = await scene(stage);
    } catch (error) {
      thrown = String(error);
    }
    for (const close of stage.closing.reverse()) await close();
    // What a server learns by the connection's end comes a moment later.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const all = [...stage.spans().map(plain), ...(stage.others ?? [])];
    printed[content ? `${name}, with content` : name] = {
      answer,
      thrown,
      spans: all,
      traces: new Set(all.map(({ traceId }) => traceId)).size,
      counts: stage.wrapped.map((one) =>
        Object.fromEntries(Object.entries(mcpCounts(one)).filter(([, count]) => count !== 0)),
      ),
      troubles: stage.troubles,
      replay: await stage.replaysEqual(),
      carried: stage.carried,
    };
  }
}
process.stdout.write(`${JSON.stringify(printed, null, 1)}\n`, () => process.exit());

function plain(span) {
  return {
    name: span.name,
    status: span.status.code,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    links: span.links.length,
    attributes: span.attributes,
  };
}
