import { gzipSync } from "node:zlib";
import { TraceFlags } from "@opentelemetry/api";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { shutDownAfter } from "../../support/stopped-timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { decodeRequest } from "./support/decode-request.ts";
import { ProtobufServer } from "./support/protobuf-server.ts";
import { numbers, rig } from "./support/rig.ts";

const MEGABYTE = 1024 * 1024;

describe("a burst of spans in one tick", () => {
  it("of 100,000 arrives whole and in order at a shutdown right after it, in bounded memory", async () => {
    await using server = await ProtobufServer.start();
    const { end, ledger, processor } = rig(server.url, { requests: 1 });
    const before = process.memoryUsage().external;
    const names = numbers(100_000);
    end(names);
    const { bytes } = processor;
    expect(bytes).toBeGreaterThan(30 * MEGABYTE);
    expect(bytes).toBeLessThan(50 * MEGABYTE);
    // What it holds is what it says, all of it outside the heap.
    expect(process.memoryUsage().external - before).toBeLessThan(bytes + 8 * MEGABYTE);
    await processor.shutdown();
    expect(server.names).toEqual(names);
    expect(ledger.counts()).toMatchObject({ ended: 100_000, exported: 100_000, pending: 0 });
    expect(processor.bytes).toBe(0);
  });

  it("is sent by a few requests at once", async () => {
    await using server = await ProtobufServer.start();
    const { end, ledger, processor } = rig(server.url, { requestBytes: 100_000 });
    const names = numbers(20_000);
    end(names);
    await processor.shutdown();
    expect(server.mostAtOnce).toBeLessThanOrEqual(4);
    expect(new Set(server.names)).toEqual(new Set(names));
    expect(server.names).toHaveLength(20_000);
    expect(ledger.counts().exported).toBe(20_000);
  });

  it("loses the newest spans past the bound, each of them counted", async () => {
    await using server = await ProtobufServer.start();
    const { end, ledger, processor } = rig(server.url, { queueBytes: MEGABYTE, requests: 1 });
    const names = numbers(20_000);
    end(names);
    expect(processor.bytes).toBeLessThanOrEqual(MEGABYTE);
    expect(processor.bytes).toBeGreaterThan(MEGABYTE - 1024);
    await processor.shutdown();
    const { exported, lost } = ledger.counts();
    expect(exported).toBeGreaterThan(1_600);
    expect(lost.queue_full).toBe(20_000 - exported);
    expect(server.names).toEqual(names.slice(0, exported));
  });
});

describe("an endpoint that is away", () => {
  it("gets everything in order when it is back, and what did not fit is counted", async () => {
    await using server = await ProtobufServer.start();
    const { end, ledger, processor } = rig(server.url, {
      queueBytes: 40_000,
      requestBytes: 4_000,
      requests: 1,
    });
    end(["before"]);
    await processor.forceFlush();
    await server.close();
    const names = numbers(1_000);
    for (const name of names) {
      end([name]);
      // Attempts fail meanwhile.
      if (Number(name) % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(processor.bytes).toBeLessThanOrEqual(40_000);
    }
    const kept = ledger.counts().pending;
    expect(kept).toBeGreaterThan(80);
    expect(ledger.counts().lost.queue_full).toBe(1_000 - kept);
    await server.open();
    await processor.forceFlush();
    end(["after"]);
    await processor.forceFlush();
    expect(server.names).toEqual(["before", ...names.slice(0, kept), "after"]);
    expect(ledger.counts()).toMatchObject({
      ended: 1_002,
      exported: kept + 2,
      failed: 0,
      pending: 0,
    });
  });

  it("makes a flush fail, which loses nothing", async () => {
    await using server = await ProtobufServer.start();
    await server.close();
    const { end, ledger, processor } = rig(server.url, { exportTimeoutMillis: 50 });
    end(["a"]);
    await expect(processor.forceFlush()).rejects.toThrow("not confirmed within 50 ms");
    expect(ledger.counts()).toMatchObject({ pending: 1, failed: 0 });
    await server.open();
    await waitFor(() => expect(ledger.counts().exported).toBe(1));
    expect(new Set(server.names)).toEqual(new Set(["a"]));
    await processor.shutdown();
    expect(ledger.counts()).toMatchObject({ pending: 0, failed: 0 });
  });

  it("makes a shutdown count everything as lost", async () => {
    await using server = await ProtobufServer.start();
    await server.close();
    const { end, ledger, processor } = rig(server.url, {
      exportTimeoutMillis: 50,
      requestBytes: 4_000,
    });
    end(numbers(1_000));
    await shutDownAfter("ECONNREFUSED", processor);
    end(["late"]);
    expect(ledger.counts()).toMatchObject({
      ended: 1_001,
      exported: 0,
      failed: 1_000,
      dropped: 1,
      pending: 0,
      lost: { unreachable: 1_000, after_shutdown: 1 },
    });
    expect(ledger.lastError).toContain("ECONNREFUSED");
    expect(ledger.queued).toBe(0);
    expect(processor.bytes).toBe(0);
  });
});

describe("a slow endpoint", () => {
  it("is never asked for more than four requests at once", async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    await using server = await ProtobufServer.start(async () => {
      await opened;
      return { status: 200 };
    });
    const { end, ledger, processor } = rig(server.url, { requestBytes: 4_000 });
    end(numbers(500));
    const flush = processor.forceFlush();
    await waitFor(() => expect(server.mostAtOnce).toBe(4));
    expect(ledger.counts().pending).toBe(500);
    open();
    await flush;
    expect(server.mostAtOnce).toBe(4);
    expect(server.names).toHaveLength(500);
    expect(ledger.counts().exported).toBe(500);
  });

  it("that never answers loses what it was sent at shutdown, as timed out", async () => {
    await using server = await ProtobufServer.start(() => "hang");
    const { end, ledger, processor } = rig(server.url, { exportTimeoutMillis: 40 });
    end(numbers(3));
    await processor.shutdown();
    expect(ledger.counts()).toMatchObject({ failed: 3, pending: 0, lost: { timeout: 3 } });
  });
});

describe("what an endpoint answers", () => {
  for (const status of [429, 502, 503, 504]) {
    it(`${status} has the same bytes sent again`, async () => {
      await using server = await ProtobufServer.start((request) => ({
        status: request < 2 ? status : 200,
        ...(request === 0 ? { headers: { "retry-after": "0" } } : {}),
      }));
      const { end, ledger, processor } = rig(server.url, { requests: 1, requestBytes: 4_000 });
      const names = numbers(100);
      end(names);
      await processor.shutdown();
      expect(server.names).toEqual(names);
      const [first, second, third] = server.requests;
      expect(second?.body).toEqual(first?.body);
      expect(third?.body).toEqual(first?.body);
      expect(ledger.counts()).toMatchObject({ exported: 100, failed: 0 });
    });
  }

  it("is not asked for again at once, though it says that no time has to pass", async () => {
    const over = new Date(Date.now() - 60_000).toUTCString();
    await using server = await ProtobufServer.start((request) => ({
      status: 503,
      headers: { "retry-after": request % 2 === 0 ? "0" : over },
    }));
    const backoff = { firstMs: 100, mostMs: 100 };
    const { end, ledger, processor } = rig(server.url, { backoff, exportTimeoutMillis: 450 });
    end(["only"]);
    await processor.shutdown();
    // Waits of 80 to 120 ms.
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
    expect(server.requests.length).toBeLessThanOrEqual(7);
    expect(ledger.counts()).toMatchObject({ failed: 1, lost: { rejected: 1 } });
  });

  for (const status of [400, 401, 404, 500, 301]) {
    it(`${status} loses the request, and no other`, async () => {
      await using server = await ProtobufServer.start((request) => ({
        status: request === 0 ? status : 200,
      }));
      const { end, ledger, processor } = rig(server.url, { requests: 1, maxExportBatchSize: 10 });
      const names = numbers(50);
      end(names);
      await expect(processor.forceFlush()).rejects.toMatchObject({ code: status });
      expect(server.names).toEqual(names.slice(10));
      expect(ledger.counts()).toMatchObject({ exported: 40, failed: 10, lost: { rejected: 10 } });
      expect(ledger.lastError).toContain(String(status));
    });
  }

  it("of a partial success counts the spans that it refused", async () => {
    await using server = await ProtobufServer.start(() => ({
      status: 200,
      // partial_success { rejected_spans: 3, error_message: "no" }
      body: Uint8Array.from([0x0a, 6, 0x08, 3, 0x12, 2, 0x6e, 0x6f]),
    }));
    const { end, ledger, processor } = rig(server.url);
    end(numbers(10));
    await expect(processor.forceFlush()).rejects.toThrow("partial success");
    expect(ledger.counts()).toMatchObject({ exported: 7, failed: 3, lost: { rejected: 3 } });
    // The endpoint's own words may hold what was sent.
    expect(ledger.lastError).toBe("200 partial success; OTEL_LOG_LEVEL=debug shows the reason");
  });

  it("of a partial success is understood in JSON, too", async () => {
    const bodies = [
      '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}',
      '{"partialSuccess":{"rejectedSpans":2}}',
      '{"partialSuccess":{"rejectedSpans":"0","errorMessage":"have a look"}}',
      '{"partialSuccess":{}}',
      "{}",
    ];
    await using server = await ProtobufServer.start((request) => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(bodies[request] ?? ""),
    }));
    const { end, ledger, processor } = rig(server.url, { requests: 1, maxExportBatchSize: 10 });
    end(numbers(50));
    await processor.shutdown();
    expect(server.requests).toHaveLength(5);
    expect(ledger.counts()).toMatchObject({ exported: 45, failed: 5, lost: { rejected: 5 } });
  });

  it("can't refuse more than it was sent, nor disturb by nonsense", async () => {
    const bodies = [
      Uint8Array.from([0x0a, 3, 0x08, 0xff, 0x7f]),
      Buffer.from("<html>200</html>"),
      Uint8Array.from([0x0a, 0x7f]),
      Uint8Array.from([0xff]),
      Buffer.from("{"),
      Buffer.from('{"partialSuccess":{"rejectedSpans":-1}}'),
      Buffer.from('{"partialSuccess":[null]}'),
      gzipSync("x".repeat(200_000), { level: 0 }),
    ];
    await using server = await ProtobufServer.start((request) => {
      const body = bodies[request];
      return body === undefined ? { status: 200 } : { status: 200, body };
    });
    const { end, ledger, processor } = rig(server.url, { requests: 1, maxExportBatchSize: 2 });
    end(numbers(18));
    await processor.shutdown();
    // Without a media type, what is no OTLP answer confirms nothing: page, bytes, cut JSON, gzip.
    expect(ledger.counts()).toMatchObject({ exported: 8, failed: 10, pending: 0 });
  });

  it.each([
    ["a page", "text/html; charset=utf-8", "<!doctype html>", "it answers 200 with text/html"],
    [
      "a health check",
      "application/json",
      '{"status":"Server available"}',
      "it answers 200 with application/json",
    ],
    ["a text", "text/plain", "OK", "it answers 200 with text/plain"],
    ["an empty page", "text/html", "", "it answers 200 with text/html"],
  ])("is no confirmation where it is %s", async (_, type, body, said) => {
    await using server = await ProtobufServer.start(() => ({
      status: 200,
      headers: { "content-type": type },
      body: Buffer.from(body),
    }));
    const { end, ledger, processor } = rig(server.url);
    end(numbers(6));
    await expect(processor.forceFlush()).rejects.toThrow(`not an OTLP receiver: ${said}`);
    expect(ledger.counts()).toMatchObject({ exported: 0, failed: 6, lost: { rejected: 6 } });
    expect(ledger.lastError).toBe(
      `not an OTLP receiver: ${said} (from ${server.url}). Another server answers there, such as Jaeger's page (16686) or the collector's health check (13133). OTLP/HTTP is usually on port 4318, at the path /v1/traces.`,
    );
  });

  it.each([
    [413, ""],
    [400, "http: request body too large"],
    [429, "received message larger than max (5 vs. 4)"],
  ])("of %i %s is sent again in halves, to the last span", async (status, text) => {
    await using server = await ProtobufServer.start((_, body) =>
      body.length > 2_000 ? { status, body: Buffer.from(text) } : { status: 200 },
    );
    const { end, ledger, processor } = rig(server.url, { requests: 1 });
    const names = numbers(100);
    end([...names, "x".repeat(3_000)]);
    await expect(processor.forceFlush()).rejects.toMatchObject({ code: status });
    expect(server.names).toEqual(names);
    expect(ledger.counts()).toMatchObject({ exported: 100, failed: 1, lost: { rejected: 1 } });
    expect(processor.bytes).toBe(0);
    await processor.shutdown();
  });
});

describe("a limit of requests in a time", () => {
  it.each([
    "Rate limit exceeded",
    "quota: request size limit exceeded for this minute",
    "Too many requests: payload size exceeds max throttling burst",
  ])("is waited for, and splits no request: %s", async (text) => {
    let asked = 0;
    await using server = await ProtobufServer.start(() => {
      asked += 1;
      return asked === 1 ? { status: 429, body: Buffer.from(text) } : { status: 200 };
    });
    const { end, ledger, processor } = rig(server.url);
    end(numbers(20));
    await processor.shutdown();
    expect(server.requests).toHaveLength(2);
    expect(ledger.counts()).toMatchObject({ exported: 20, failed: 0 });
  });
});

describe("the processor", () => {
  it("sends no request larger than it should be, and a span that is larger by itself", async () => {
    await using server = await ProtobufServer.start((_, body) => ({
      status: body.length > 4_000 ? 413 : 200,
    }));
    const { end, ledger, processor, tracer } = rig(server.url, { requestBytes: 4_000 });
    end(numbers(50));
    tracer.startSpan("large", { attributes: { text: "x".repeat(9_000) } }).end();
    end(["last"]);
    await processor.shutdown();
    expect(new Set(server.names)).toEqual(new Set([...numbers(50), "last"]));
    expect(ledger.counts()).toMatchObject({ exported: 51, failed: 1, lost: { rejected: 1 } });
    const refused = server.requests.filter(({ status }) => status === 413);
    expect(refused.map(({ body }) => decodeRequest(body).map(({ name }) => name))).toEqual([
      ["large"],
    ]);
  });

  it("sends what there is when a span has waited", async () => {
    await using server = await ProtobufServer.start();
    const { end, processor } = rig(server.url, { scheduledDelayMillis: 1 });
    end(["a", "b"]);
    await waitFor(() => expect(server.names).toEqual(["a", "b"]));
    end(["c"]);
    await waitFor(() => expect(server.names).toEqual(["a", "b", "c"]));
    await processor.shutdown();
  });

  it("bounds spans that wait by their number where it is told to", async () => {
    await using server = await ProtobufServer.start();
    await server.close();
    const { end, ledger, processor } = rig(server.url, { maxQueueSize: 8, requests: 1 });
    end(numbers(100));
    // Two are in the request under way, as a request takes a fourth of the queue.
    expect(ledger.counts()).toMatchObject({ pending: 10, lost: { queue_full: 90 } });
    processor.giveUp();
    expect(ledger.counts()).toMatchObject({ pending: 0, failed: 10 });
  });

  it("leaves spans alone that are not sampled", async () => {
    const { ledger, processor, tracer } = rig("http://127.0.0.1:9/v1/traces");
    const span = tracer.startSpan("a");
    vi.spyOn(span, "spanContext").mockReturnValue({
      traceId: "1".repeat(32),
      spanId: "1".repeat(16),
      traceFlags: TraceFlags.NONE,
    });
    span.end();
    expect(ledger.counts().ended).toBe(0);
    expect(processor.bytes).toBe(0);
  });

  it("counts a span that can't be encoded, and throws nothing", async () => {
    await using server = await ProtobufServer.start();
    const { end, ledger, processor, tracer } = rig(server.url);
    const round: Record<string, unknown> = {};
    round.self = round;
    end(["a"]);
    const span = tracer.startSpan("round");
    Object.assign(Reflect.get(span, "attributes"), { round });
    span.end();
    end(["b"]);
    await processor.shutdown();
    expect(server.names).toEqual(["a", "b"]);
    expect(ledger.counts()).toMatchObject({ ended: 3, exported: 2, lost: { export_failed: 1 } });
    expect(ledger.lastError).toContain("can't be encoded");
  });

  it("keeps no process alive while spans wait or an attempt is waited for", async () => {
    await using server = await ProtobufServer.start();
    await server.close();
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const { end, ledger, processor } = rig(server.url, {
      maxExportBatchSize: 1,
      backoff: { firstMs: 3_600_000, mostMs: 3_600_000 },
    });
    onTestFinished(() => processor.giveUp());
    const before = timers();
    end(numbers(3));
    await waitFor(() => expect(ledger.queued).toBe(0));
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
