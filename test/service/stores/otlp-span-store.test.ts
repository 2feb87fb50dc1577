import { createServer } from "node:http";
import { NodeTracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OtlpSpanStore } from "../../../src/bridge/door.ts";
import { type Answer, deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { waitUntil } from "../../support/wait-for.ts";

function spans(names: readonly string[]): ReadableSpan[] {
  const ended: ReadableSpan[] = [];
  const provider = new NodeTracerProvider({
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: (span) => void ended.push(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  for (const name of names) provider.getTracer("test").startSpan(name).end();
  return ended;
}

function storeAt(url: string, requests?: number) {
  const errors: string[] = [];
  const store = new OtlpSpanStore({
    url: `${url}/v1/traces`,
    onError: (error, where) => void errors.push(`${where}: ${String(error)}`),
    timeoutMs: 900,
    delays: { firstMs: 1, mostMs: 4 },
    requests,
  });
  return { errors, store };
}

const names = (server: OtlpServer) => server.spans.map(({ name }) => name);

const TYPES = { "http/protobuf": "application/x-protobuf", "http/json": "application/json" };
const VARIABLE = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";

afterEach(() => vi.unstubAllEnvs());

it("OtlpSpanStore sends protobuf where nobody asks for JSON", async () => {
  await using server = await OtlpServer.start();
  const { store } = storeAt(server.url);
  await store.store(spans(["a"]));
  await store.close();
  expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual([
    "application/x-protobuf",
  ]);
});

describe.each(["http/protobuf", "http/json"] as const)("OtlpSpanStore in %s", (protocol) => {
  beforeEach(() => void vi.stubEnv(VARIABLE, protocol));

  it("stores spans in one request", async () => {
    await using server = await OtlpServer.start();
    const { errors, store } = storeAt(server.url);
    expect(await store.store(spans(["a", "b"]))).toEqual({ refused: 0 });
    expect(await store.store([])).toEqual({ refused: 0 });
    expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual([
      TYPES[protocol],
    ]);
    expect(names(server)).toEqual(["a", "b"]);
    expect(errors).toEqual([]);
    await store.close();
    expect(server.faults).toEqual([]);
  });

  it("tries again what the receiver, its operator or time will mend, and tells of it once", async () => {
    const answers: Answer[] = [500, 401, 403, 404, 408, 415, 429, 503, 502];
    await using server = await OtlpServer.start({ answer: (request) => answers[request] ?? 200 });
    const { errors, store } = storeAt(server.url);
    expect(await store.store(spans(["a"]))).toEqual({ refused: 0 });
    expect(server.requests).toHaveLength(10);
    expect(names(server)).toEqual(["a"]);
    expect(errors).toEqual([expect.stringMatching(/^span export: Error: spans: HTTP 500/)]);
    await store.close();
  });

  it("waits for a receiver that is not there, until it is closed", async () => {
    const { errors, store } = storeAt(await deadUrl());
    const stored = store.store(spans(["a"]));
    const [first] = await Promise.all([
      stored.then(
        () => "stored",
        () => "closed",
      ),
      waitUntil(() => errors.length > 0).then(() => store.close()),
    ]);
    expect(first).toBe("closed");
    expect(errors).toHaveLength(1);
    await expect(store.store(spans(["b"]))).rejects.toThrow("closed");
  });

  it("halves what is too large", async () => {
    await using server = await OtlpServer.start({
      answer: () => ((server.requests.at(-1)?.spans.length ?? 0) > 2 ? 413 : 200),
    });
    const { errors, store } = storeAt(server.url);
    expect(await store.store(spans(["a", "b", "c", "d", "e"]))).toEqual({ refused: 0 });
    expect(names(server).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    expect(errors).toEqual([]);
    await store.close();
  });

  it("gives up the span alone that has no answer, however often it comes while others have one", async () => {
    const hasBad = () => server.requests.at(-1)?.spans.some(({ name }) => name === "bad");
    await using server = await OtlpServer.start({ answer: () => (hasBad() ? 500 : 200) });
    const { errors, store } = storeAt(server.url);
    let done = false;
    const stored = store.store(spans(["a", "bad", "b"])).finally(() => {
      done = true;
    });
    while (!done) await store.store(spans(["other"]));
    expect(await stored).toEqual({ refused: 1 });
    expect(
      names(server)
        .filter((name) => name !== "other")
        .toSorted(),
    ).toEqual(["a", "b"]);
    expect(errors.at(-1)).toMatch(/^span export: RefusedError: spans: HTTP 500/);
    await store.close();
  }, 60_000);

  it("loses no other spans with the one that is refused for good", async () => {
    const hasBad = () => server.requests.at(-1)?.spans.some(({ name }) => name === "bad");
    await using server = await OtlpServer.start({ answer: () => (hasBad() ? 400 : 200) });
    const { errors, store } = storeAt(server.url);
    const stored = await store.store(spans(["a", "b", "bad", "c", "d"]));
    expect(stored).toEqual({ refused: 1 });
    expect(names(server).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(errors).toEqual([expect.stringMatching(/^span export: RefusedError: spans: HTTP 400/)]);
    await store.close();
  });

  it("counts what a receiver takes a request without", async () => {
    await using receiver = await answering(200, [PARTIAL[protocol], Buffer.alloc(0)]);
    const { errors, store } = storeAt(receiver.url);
    expect(await store.store(spans(["a", "b", "c"]))).toEqual({ refused: 2 });
    expect(await store.store(spans(["d"]))).toEqual({ refused: 0 });
    expect(errors).toEqual(["span export: Error: 2 spans: the receiver refused them: too old"]);
    await store.close();
  });

  it("says why spans are refused for good", async () => {
    await using receiver = await answering(400, [REFUSAL[protocol]]);
    const { errors, store } = storeAt(receiver.url);
    expect(await store.store(spans(["a"]))).toEqual({ refused: 1 });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^span export: RefusedError: spans: HTTP 400 Bad Request: .*no room/);
    await store.close();
  });

  it("refuses what can't be encoded, and that alone", async () => {
    await using server = await OtlpServer.start();
    const { errors, store } = storeAt(server.url);
    const all = spans(["a", "bad", "b"]);
    const looped: unknown[] = [];
    looped.push(looped);
    Object.assign(all[1]?.attributes ?? {}, { looped });
    expect(await store.store(all)).toEqual({ refused: 1 });
    expect(names(server).toSorted()).toEqual(["a", "b"]);
    expect(errors).toEqual([
      expect.stringMatching(/^span export: RefusedError: spans: can't be encoded: RangeError/),
    ]);
    await store.close();
  });

  it("has so many requests on their way, and no more", async () => {
    let now = 0;
    let most = 0;
    await using server = await OtlpServer.start({
      before: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        now--;
      },
    });
    const { store } = storeAt(server.url, 3);
    await Promise.all(Array.from({ length: 12 }, (_, n) => store.store(spans([`s${n}`]))));
    expect(server.requests).toHaveLength(12);
    expect(most).toBe(3);
    await store.close();
  });
});

/** The answer to a request that was taken without two of its spans. */
const PARTIAL = {
  "http/protobuf": Buffer.from("\x0a\x0b\x08\x02\x12\x07too old"),
  "http/json": Buffer.from('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'),
};

/** What a receiver says of a request that it refuses. */
const REFUSAL = {
  "http/protobuf": Buffer.from("\x08\x03\x12\x07no room"),
  "http/json": Buffer.from('{"code":3,"message":"no room"}'),
};

/** A receiver that gives these bodies, one a request, in the type that it was sent. */
async function answering(status: number, bodies: readonly Buffer[]) {
  let sent = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const { "content-type": type = "" } = request.headers;
      response.writeHead(status, { "content-type": type }).end(bodies[sent++]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
