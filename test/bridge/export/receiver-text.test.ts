import { deflateSync, gzipSync } from "node:zlib";
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { afterEach, describe, expect, it, vi } from "vitest";
import { StatusError } from "../../../src/bridge/export/attempt.ts";
import { OtlpPost, type Post } from "../../../src/bridge/export/otlp-post.ts";
import { shortText } from "../../../src/bridge/setup/span-ledger.ts";
import { ProtobufServer } from "./support/protobuf-server.ts";
import { rig } from "./support/rig.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
  diag.disable();
});

function keepDebug(): string[] {
  const lines: string[] = [];
  const silent = () => {};
  const debug = (text: string) => void lines.push(text);
  const logger = { debug, warn: silent, error: silent, info: silent, verbose: silent };
  diag.setLogger(logger, DiagLogLevel.DEBUG);
  // The API says that it has a logger.
  lines.length = 0;
  return lines;
}

describe("what the receiver says", () => {
  it.each([
    [400, "bad span", "HTTP 400 Bad Request: bad span"],
    [401, "token expired", "HTTP 401 Unauthorized: token expired"],
    [429, "quota exhausted", "HTTP 429 Too Many Requests (it takes nothing now): quota exhausted"],
    [200, Uint8Array.of(0x0a, 4, 0x12, 2, 0x6e, 0x6f), "taken, 0 refused: no"],
  ])("is logged for debugging: %i", async (status, body, said) => {
    const lines = keepDebug();
    await using server = await ProtobufServer.start(() => ({ status, body: Buffer.from(body) }));
    await new OtlpPost({ url: server.url, timeoutMs: 60_000 }).send(Buffer.alloc(0));
    expect(lines).toEqual([`entelix-otel: ${server.url}: ${said}`]);
  });

  it("is on one line, without control characters, and cut", async () => {
    const text = `refused:\r\n\u001b[31m\u2028 ${"x".repeat(2_000)}`;
    await using server = await ProtobufServer.start(() => ({
      status: 400,
      body: Buffer.from(text),
    }));
    const answer = await new OtlpPost({ url: server.url, timeoutMs: 60_000 }).send(Buffer.alloc(0));
    if (answer.kind !== "failed") throw new Error("it was taken");
    expect(answer.detail).toMatch(/^refused: \[31m x{400,500}$/);
  });

  it.each(["gzip", "deflate"])("is unpacked where it came in %s", async (encoding) => {
    const body = '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}';
    const packed = encoding === "gzip" ? gzipSync(body) : deflateSync(body);
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    await using server = await ProtobufServer.start(() => ({ status: 200, headers, body: packed }));
    const answer = await new OtlpPost({ url: server.url, timeoutMs: 60_000 }).send(Buffer.alloc(0));
    expect(answer).toEqual({ kind: "taken", refused: 1, detail: "too old" });
  });

  it.each([
    ["https://other.example/v1/traces?key=s3cret", "https://other.example/v1/traces?key=hidden"],
    ["/new", "/new"],
  ])("of a redirection is in the report, with what to set: %s", async (location, shown) => {
    await using server = await ProtobufServer.start(() => ({ status: 307, headers: { location } }));
    const answer = await new OtlpPost({ url: server.url, timeoutMs: 60_000 }).send(Buffer.alloc(0));
    if (answer.kind !== "failed") throw new Error("it was taken");
    expect(shortText(answer.error)).toBe(
      `307 Temporary Redirect to ${shown} (from ${server.url}). Set the endpoint to the address that it redirects to.`,
    );
  });

  it("is shown without the credentials of the request", async () => {
    const lines = keepDebug();
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=key-of-the-environment");
    await using server = await ProtobufServer.start(() => ({
      status: 403,
      body: Buffer.from(
        "no rights: key-of-the-environment, me:s3cret-1, bWU6czNjcmV0LTE=, pass-word, query-key, 0123456789abcdef; application/x-protobuf",
      ),
    }));
    const url = `${server.url.replace("http://", "http://user:pass-word@")}/0123456789abcdef?key=query-key`;
    const headers = { authorization: "Basic bWU6czNjcmV0LTE=" };
    const answer = await new OtlpPost({ url, headers, timeoutMs: 60_000 }).send(Buffer.alloc(0));
    const shown =
      "no rights: (hidden), (hidden), (hidden), (hidden), (hidden), (hidden); application/x-protobuf";
    expect(answer).toMatchObject({ detail: shown });
    const address = `${server.url}/hidden?key=hidden`;
    expect(lines).toEqual([`entelix-otel: ${address}: HTTP 403 Forbidden: ${shown}`]);
  });

  it.each(["a-key-as-user", "a%2Fkey-as-user"])(
    "is shown without the user of the address: %s",
    async (user) => {
      const sent = Buffer.from(`${decodeURIComponent(user)}:pass-word`).toString("base64");
      await using server = await ProtobufServer.start(() => ({
        status: 403,
        body: Buffer.from(`no rights: ${user}, Basic ${sent}`),
      }));
      const url = server.url.replace("http://", `http://${user}:pass-word@`);
      const answer = await new OtlpPost({ url, timeoutMs: 60_000 }).send(Buffer.alloc(0));
      expect(answer).toMatchObject({ detail: "no rights: (hidden), Basic (hidden)" });
    },
  );

  it("about how long to wait is reported, with the number of spans that wait", async () => {
    vi.useFakeTimers();
    const error = new StatusError(429, "Too Many Requests");
    const post: Post = {
      send: async () => ({ kind: "failed", error, afterMs: 86_400_000 }),
      abort() {},
    };
    const told: string[] = [];
    const { end, processor } = rig(post, {}, (report) => void told.push(report.message));
    end(["a", "b"]);
    const flushed = processor.forceFlush().catch(() => {});
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual([
      "the endpoint has taken no spans for 10 s; 2 spans wait and are sent again; it asks to wait 86400 s, they wait 300 s at most: 429 Too Many Requests",
    ]);
    processor.giveUp();
    await flushed;
  });
});
