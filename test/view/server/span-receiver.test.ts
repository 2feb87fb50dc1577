import { once } from "node:events";
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../../../src/cli/door.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { Bridge, createIdGenerator } from "../../../src/index.ts";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { Folder } from "../../cli/support/folder.ts";
import { memoryIo } from "../../cli/support/memory-io.ts";
import { waitFor } from "../../support/wait-for.ts";
import { listOf } from "../support/opened.ts";

const JSON_TYPE = { "content-type": "application/json" };
const PROTOBUF = { "content-type": "application/x-protobuf" };

let folder: Folder;
let runs: ViewedRuns;
let url: string;

beforeEach(async () => {
  folder = new Folder();
  const listen = { host: "127.0.0.1", port: 0 };
  const save = folder.at("saved.ndjson");
  runs = await openSources([], { follow: true, content: true, listen, save }, memoryIo().io);
  url = source()?.name ?? "";
});

afterEach(async () => {
  await runs.close();
  folder[Symbol.dispose]();
});

const source = () => runs.list([]).sources.find(({ kind }) => kind === "otlp");
const problems = () => source()?.problems.map(({ problem }) => problem);

/** The spans of a run with one tool call. */
async function spansOf(agent: string): Promise<ReadableSpan[]> {
  const memory = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const sink = new Bridge({ tracerProvider });
  await runAgent({ sink, agent, tenant: "acme" }, (run) => run.tool("look_up", () => "sent"));
  await sink.shutdown();
  return memory.getFinishedSpans();
}

async function protobufOf(agent: string): Promise<Uint8Array> {
  return ProtobufTraceSerializer.serializeRequest(await spansOf(agent)) ?? new Uint8Array();
}

interface Sent {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

/** Not `fetch`, which would not send a `Host` or an `Origin` of one's own. */
function send(
  body: string | Uint8Array,
  headers: Record<string, string>,
  { method = "POST", path = "/v1/traces" } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const to = { method, headers: { "content-length": `${Buffer.byteLength(body)}`, ...headers } };
    httpRequest(`${url}${path}`, { ...to, agent: false }, (response) => {
      const { headers: got, statusCode: status } = response;
      textOf(response).then((text) => resolve({ status, type: got["content-type"], text }), reject);
    })
      .on("error", reject)
      .end(body);
  });
}

const shown = () => listOf(runs).runs.map(({ agent, outcome, spans }) => [agent, outcome, spans]);

describe("the receiver of view", () => {
  it("takes protobuf and JSON, also compressed, and confirms in the same form", async () => {
    const json = JsonTraceSerializer.serializeRequest(await spansOf("b")) ?? new Uint8Array();
    expect(await send(await protobufOf("a"), PROTOBUF)).toEqual({
      status: 200,
      type: "application/x-protobuf",
      text: "",
    });
    expect(await send(json, JSON_TYPE)).toEqual({
      status: 200,
      type: "application/json",
      text: "{}",
    });
    const gzip = { ...PROTOBUF, "content-encoding": "gzip" };
    expect((await send(gzipSync(await protobufOf("c")), gzip)).status).toBe(200);
    expect(shown()).toEqual([
      ["a", "complete", 2],
      ["b", "complete", 2],
      ["c", "complete", 2],
    ]);
    expect(problems()).toEqual([]);
  });

  it("asks a sender that waits for it to go on", async () => {
    const body = await protobufOf("a");
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...PROTOBUF, expect: "100-continue", "content-length": body.length };
      const request = httpRequest(`${url}/v1/traces`, { method: "POST", headers, agent: false });
      request.on("continue", () => request.end(body));
      request.on("response", (response) => resolve(response.resume().statusCode));
      request.on("error", reject).flushHeaders();
    });
    expect(status).toBe(200);
    expect(shown()).toEqual([["a", "complete", 2]]);
  });

  it("takes metrics and logs without keeping them", async () => {
    for (const path of ["/v1/metrics", "/v1/logs"]) {
      expect(await send("{}", JSON_TYPE, { path })).toMatchObject({ status: 200, text: "{}" });
    }
    expect(readFileSync(folder.at("saved.ndjson"), "utf8")).toBe("");
  });

  it("confirms an empty request, and refuses other JSON", async () => {
    expect(await send("{ }", JSON_TYPE)).toMatchObject({ status: 200, text: "{}" });
    expect(await send("[]", JSON_TYPE)).toMatchObject({ status: 400 });
    expect(await send('{"spans":[]}', JSON_TYPE)).toMatchObject({ status: 400 });
  });

  it("writes what it took as lines that view reads, for its owner only", async () => {
    await send(await protobufOf("a"), PROTOBUF);
    await send(JsonTraceSerializer.serializeRequest(await spansOf("b")) ?? "", JSON_TYPE);
    const saved = folder.at("saved.ndjson");
    const read = await openSources([saved], { follow: false, content: true }, memoryIo().io);
    await read.ready();
    expect(listOf(read).runs).toEqual(listOf(runs).runs);
    await read.close();
    expect(statSync(saved).mode & 0o777).toBe(0o600);
  });

  it("begins on a new line after half a line of a process that was killed", async () => {
    const saved = folder.at("saved.ndjson");
    await send(await protobufOf("a"), PROTOBUF);
    const half = readFileSync(saved, "utf8").slice(0, 100);
    writeFileSync(saved, half);
    await send(await protobufOf("b"), PROTOBUF);
    await send(await protobufOf("c"), PROTOBUF);
    const lines = readFileSync(saved, "utf8").split("\n");
    expect(lines.map((line) => line.length > 100)).toEqual([false, true, true, false]);
    const read = await openSources([saved], { follow: false, content: true }, memoryIo().io);
    await read.ready();
    expect(listOf(read).runs.map(({ agent }) => agent)).toEqual(["b", "c"]);
    await read.close();
  });

  it("makes files for its owner only, and says once when others can read an existing one", async () => {
    const saved = folder.at("saved.ndjson");
    const mode = () => statSync(saved).mode & 0o777;
    renameSync(saved, folder.at("saved.1.ndjson"));
    await send(await protobufOf("a"), PROTOBUF);
    expect(mode()).toBe(0o600);
    expect(problems()).toEqual([]);
    chmodSync(saved, 0o644);
    await send(await protobufOf("b"), PROTOBUF);
    await send(await protobufOf("c"), PROTOBUF);
    expect(mode()).toBe(0o644);
    expect(problems()).toEqual([`--save: others can use ${saved} (mode 644): chmod 600 it`]);
  });

  it("takes a request that nests too deeply to be written, and says so", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const request = `{"deep":${deep},"resourceSpans":[]}`;
    expect(await send(request, JSON_TYPE)).toMatchObject({ status: 200, text: "{}" });
    expect(problems()).toEqual([expect.stringContaining("--save: a request cannot be written")]);
    await send(await protobufOf("a"), PROTOBUF);
    expect(shown()).toEqual([["a", "complete", 2]]);
  });

  it("says which spans it cannot read", async () => {
    const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    const request = { resourceSpans: [{ scopeSpans: [{ spans: [span, span] }] }] };
    expect(JSON.parse((await send(JSON.stringify(request), JSON_TYPE)).text)).toEqual({
      partialSuccess: { rejectedSpans: "2", errorMessage: "a span without ids or times" },
    });
    expect(problems()).toEqual(["a span without ids or times"]);
  });

  it.each<[string, number, Record<string, string>, Parameters<typeof send>[2]]>([
    ["a page of another site", 403, { origin: "http://evil.test" }, {}],
    ["a page of this machine", 403, { origin: "http://localhost:3000" }, {}],
    ["a browser without an origin", 403, { "sec-fetch-site": "cross-site" }, {}],
    ["a name that was made to lead here", 421, { host: "evil.test" }, {}],
    ["another type", 415, { "content-type": "text/plain" }, {}],
    ["another encoding", 400, { "content-encoding": "br" }, {}],
    ["bytes that are not compressed", 400, { "content-encoding": "gzip" }, {}],
    ["another path", 404, {}, { path: "/" }],
    ["another method", 405, {}, { method: "PUT" }],
  ])("refuses %s", async (_, status, headers, target) => {
    const refused = await send(await protobufOf("a"), { ...PROTOBUF, ...headers }, target);
    expect(refused.status).toBe(status);
    expect(shown()).toEqual([]);
    expect(problems()).toHaveLength(1);
  });

  it("refuses a request that is cut", async () => {
    const cut = (await protobufOf("a")).subarray(0, -1);
    expect((await send(cut, PROTOBUF)).status).toBe(400);
    expect((await send('{"resourceSpans":', JSON_TYPE)).status).toBe(400);
    expect(shown()).toEqual([]);
  });

  it("reports a sender that leaves in the middle of a request until spans come again", async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write("POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    socket.write("content-type: application/json\r\ncontent-length: 900\r\n\r\n{");
    // The answer to another request shows that the first one is being read.
    await send("{}", JSON_TYPE, { path: "/v1/logs" });
    socket.destroy();
    await waitFor(() => expect(problems()).toEqual([expect.stringContaining("a program left")]));
    await send(await protobufOf("a"), PROTOBUF);
    expect(problems()).toEqual([]);
    expect(shown()).toEqual([["a", "complete", 2]]);
  });

  it("says what to do when its port is in use", async () => {
    const listen = { host: "127.0.0.1", port: Number(new URL(url).port) };
    const again = openSources([], { follow: true, content: true, listen }, memoryIo().io);
    await expect(again).rejects.toThrow(`--listen: port ${listen.port} of 127.0.0.1 is in use`);
    const hint = await again.catch((error: unknown) => error instanceof CliError && error.hint);
    const [, port] = /^End it, or run: entelix-otel view --listen (\d+), /.exec(`${hint}`) ?? [];
    // It is none of 4317, 4318 and 4319, which have another use.
    expect(Number(port)).toBeGreaterThanOrEqual(4_320);
    expect(hint).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${port} for your program`);
    expect(hint).toContain("If its code has an endpoint, change it there");
  });

  it("proposes no port that is in use", async () => {
    const listen = { host: "127.0.0.1", port: Number(new URL(url).port) };
    const again = () => openSources([], { follow: true, content: true, listen }, memoryIo().io);
    const proposed = async () => {
      const error: unknown = await again().catch((thrown: unknown) => thrown);
      const hint = error instanceof CliError ? error.hint : undefined;
      return Number(/--listen (\d+)/.exec(hint ?? "")?.[1]);
    };
    const first = await proposed();
    const server = createServer();
    // Another program may have taken it in the meantime, which is as good.
    await once(server.listen(first, "127.0.0.1"), "listening").catch(() => {});
    try {
      expect(await proposed()).not.toBe(first);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
