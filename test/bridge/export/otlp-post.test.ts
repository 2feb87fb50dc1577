import { channel } from "node:diagnostics_channel";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { isTracingSuppressed } from "@opentelemetry/core";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { OtlpPost } from "../../../src/bridge/export/otlp-post.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ProtobufServer } from "./support/protobuf-server.ts";
import { numbers, rig } from "./support/rig.ts";

const BYTES = Buffer.from("0a00", "hex");

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a request", () => {
  it("says what it is, with headers of the environment and own ones over them", async () => {
    await using server = await ProtobufServer.start();
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "a=1,b=2");
    const post = new OtlpPost({ url: server.url, headers: { b: "3" }, timeoutMs: 5_000 });
    expect(await post.send(BYTES)).toEqual({ kind: "taken", refused: 0 });
    expect(server.requests[0]?.headers).toMatchObject({
      "content-type": "application/x-protobuf",
      "content-length": "2",
      a: "1",
      b: "3",
      "user-agent": expect.stringMatching(/^OTel-OTLP-Exporter-JavaScript\/entelix-otel-\d/),
    });
    expect(server.requests[0]?.body).toEqual(BYTES);
  });

  it("goes where the environment says", async () => {
    await using server = await ProtobufServer.start();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url.replace("/v1/traces", ""));
    expect(await new OtlpPost({ timeoutMs: 5_000 }).send(BYTES)).toMatchObject({ kind: "taken" });
    expect(server.requests).toHaveLength(1);
  });

  it("is compressed where the environment says so", async () => {
    await using server = await ProtobufServer.start();
    vi.stubEnv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    const { end, ledger, processor } = rig(server.url, { requests: 1 });
    end(numbers(5_000));
    await processor.shutdown();
    expect(server.names).toEqual(numbers(5_000));
    const [first] = server.requests;
    expect(first?.headers["content-encoding"]).toBe("gzip");
    expect(Number(first?.headers["content-length"])).toBeLessThan((first?.body.length ?? 0) / 5);
    expect(ledger.counts().exported).toBe(5_000);
  });

  it("makes no span of its own", async () => {
    await using server = await ProtobufServer.start();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    onTestFinished(() => context.disable());
    const suppressed: boolean[] = [];
    const note = () => void suppressed.push(isTracingSuppressed(context.active()));
    channel("http.client.request.start").subscribe(note);
    onTestFinished(() => void channel("http.client.request.start").unsubscribe(note));
    const { end, processor } = rig(server.url, { maxExportBatchSize: 1, requests: 2 });
    end(numbers(4));
    await processor.forceFlush();
    expect(suppressed).toEqual([true, true, true, true]);
    expect(isTracingSuppressed(context.active())).toBe(false);
    await processor.shutdown();
  });
});

describe("an attempt that fails", () => {
  it("may pass later when nobody listens", async () => {
    const server = await ProtobufServer.start();
    await server.close();
    const post = new OtlpPost({ url: server.url, timeoutMs: 5_000 });
    expect(await post.send(BYTES)).toMatchObject({
      kind: "failed",
      error: { code: "ECONNREFUSED" },
    });
  });

  it("may pass later when there is no answer in time", async () => {
    await using server = await ProtobufServer.start(() => "hang");
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "20");
    const post = new OtlpPost({ url: server.url, timeoutMs: 60_000 });
    expect(await post.send(BYTES)).toMatchObject({
      kind: "failed",
      error: { message: "the request timed out after 20 ms" },
    });
  });

  it("says for how long the endpoint wants to be left alone", async () => {
    const headers: Record<string, string>[] = [
      { "retry-after": "17" },
      { "retry-after": new Date(Date.now() - 60_000).toUTCString() },
      { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() },
      { "retry-after": "soon" },
      { "retry-after": "0" },
      { "retry-after": "1.5" },
      { "retry-after": "-1" },
      {},
    ];
    await using server = await ProtobufServer.start((n) => ({
      status: 429,
      headers: headers[n] ?? {},
    }));
    const post = new OtlpPost({ url: server.url, timeoutMs: 5_000 });
    const waits: (number | undefined)[] = [];
    for (const _ of headers) {
      const answer = await post.send(BYTES);
      if (answer.kind !== "failed") throw new Error(`unexpected: ${answer.kind}`);
      expect(answer.error).toMatchObject({ code: 429 });
      waits.push(answer.afterMs);
    }
    const [seconds, past, date, ...others] = waits;
    expect([seconds, past]).toEqual([17_000, undefined]);
    expect(date).toBeGreaterThan(3_000_000);
    expect(date).toBeLessThanOrEqual(3_600_000);
    expect(others).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  it("ends at once when it is given up", async () => {
    await using server = await ProtobufServer.start(() => "hang");
    const post = new OtlpPost({ url: server.url, timeoutMs: 3_600_000 });
    const attempt = post.send(BYTES);
    await waitFor(() => expect(server.mostAtOnce).toBe(1));
    post.abort();
    expect(await attempt).toMatchObject({ kind: "failed", error: { message: "given up" } });
    expect(await post.send(BYTES)).toMatchObject({ kind: "failed" });
  });
});
