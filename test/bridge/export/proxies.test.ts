import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diag } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { OtlpPost } from "../../../src/bridge/export/otlp-post.ts";
import { shortText } from "../../../src/bridge/setup/span-ledger.ts";
import { ProtobufServer, portOf } from "./support/protobuf-server.ts";
import { selfSigned } from "./support/self-signed.ts";

const BYTES = Buffer.from("0a00", "hex");

const VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"];

beforeEach(() => {
  for (const name of VARIABLES) {
    vi.stubEnv(name, "");
    vi.stubEnv(name.toLowerCase(), "");
  }
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A proxy that forwards requests, opens tunnels, and notes both. */
async function proxy() {
  const seen: string[] = [];
  const note = ({ headers, method, url }: IncomingMessage) => {
    const user = Buffer.from(headers["proxy-authorization"]?.slice(6) ?? "", "base64").toString();
    seen.push(`${method} ${url}${user === "" ? "" : ` as ${user}`}`);
  };
  const server = createServer((request, response) => {
    note(request);
    const { headers, method, url = "" } = request;
    const forwarded = httpRequest(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  server.on("connect", (request, socket) => {
    note(request);
    const [host = "", port = ""] = request.url?.split(":") ?? [];
    const target = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket);
      socket.pipe(target);
    });
    target.on("error", () => socket.destroy());
    socket.on("error", () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, host: `127.0.0.1:${portOf(server.address())}` };
}

describe("a request behind a proxy", () => {
  it("goes through HTTP_PROXY, with its user, on one connection", async () => {
    await using server = await ProtobufServer.start();
    const { host, seen } = await proxy();
    vi.stubEnv("HTTP_PROXY", `http://me:s3cret@${host}`);
    const post = new OtlpPost({ url: server.url, timeoutMs: 60_000 });
    expect([await post.send(BYTES), await post.send(BYTES)]).toEqual([
      { kind: "taken", refused: 0 },
      { kind: "taken", refused: 0 },
    ]);
    expect(seen).toEqual([`POST ${server.url} as me:s3cret`, `POST ${server.url} as me:s3cret`]);
    expect(server.requests.map(({ body }) => body)).toEqual([BYTES, BYTES]);
    expect(server.requests[0]?.headers["proxy-authorization"]).toBe("Basic bWU6czNjcmV0");
  });

  it("goes through a tunnel of HTTPS_PROXY, with the exporter's certificates", async () => {
    const { cert, key } = selfSigned();
    let requests = 0;
    const server = createTlsServer({ cert, key }, (request, response) => {
      requests++;
      request.resume().on("end", () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { host, seen } = await proxy();
    vi.stubEnv("HTTPS_PROXY", host);
    const target = `127.0.0.1:${portOf(server.address())}`;
    const send = () =>
      new OtlpPost({ url: `https://${target}/v1/traces`, timeoutMs: 60_000 }).send(BYTES);
    expect(await send()).toMatchObject({ kind: "failed" });
    expect([requests, seen]).toEqual([0, []]);
    vi.stubEnv("HTTPS_PROXY", `http://${host}`);
    expect(await send()).toMatchObject({
      kind: "failed",
      error: { message: expect.stringContaining("self-signed") },
    });
    const folder = mkdtempSync(join(tmpdir(), "entelix-otel-test-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "ca.pem"), cert);
    vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", join(folder, "ca.pem"));
    expect(await send()).toEqual({ kind: "taken", refused: 0 });
    expect([requests, seen]).toEqual([1, [`CONNECT ${target}`, `CONNECT ${target}`]]);
  });

  it.each(["127.0.0.1", "*", "example.org, 127.0.0.1"])(
    "goes past it for NO_PROXY=%s",
    async (no) => {
      await using server = await ProtobufServer.start();
      const { host, seen } = await proxy();
      vi.stubEnv("http_proxy", `http://${host}`);
      vi.stubEnv("NO_PROXY", no);
      const post = new OtlpPost({ url: server.url, timeoutMs: 60_000 });
      expect(await post.send(BYTES)).toEqual({ kind: "taken", refused: 0 });
      expect([seen, server.requests.length]).toEqual([[], 1]);
    },
  );

  it("is named in reports where a request fails", async () => {
    vi.stubEnv("HTTP_PROXY", "http://me:s3cret-word@127.0.0.1:9");
    const post = new OtlpPost({ url: "http://collector/v1/traces", timeoutMs: 60_000 });
    const attempt = await post.send(BYTES);
    if (attempt.kind !== "failed") throw new Error("it was taken");
    expect(shortText(attempt.error)).toBe(
      "connect ECONNREFUSED 127.0.0.1:9 (through the proxy 127.0.0.1:9)",
    );
  });

  it("says what a proxy answers that refuses the tunnel", async () => {
    const server = createServer();
    server.on("connect", (_, socket) => {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${portOf(server.address())}`);
    const post = new OtlpPost({ url: "https://127.0.0.1:1/v1/traces", timeoutMs: 60_000 });
    const attempt = await post.send(BYTES);
    expect(attempt).toMatchObject({
      kind: "failed",
      error: { code: 407, message: "Proxy Authentication Required" },
    });
    if (attempt.kind !== "failed") return;
    expect(shortText(attempt.error)).toBe(
      `407 Proxy Authentication Required (from https://127.0.0.1:1/v1/traces through the proxy 127.0.0.1:${portOf(server.address())}). ` +
        "Set user and password in the proxy's address: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.",
    );
  });

  it("goes past a proxy that it can't use, with a line that hides its password", async () => {
    await using server = await ProtobufServer.start();
    const warnings: string[] = [];
    const silent = () => {};
    const warn = (text: string) => void warnings.push(text);
    diag.setLogger({ warn, error: silent, info: silent, debug: silent, verbose: silent });
    onTestFinished(() => diag.disable());
    vi.stubEnv("HTTP_PROXY", "socks5://me:s3cret@127.0.0.1:1");
    const post = new OtlpPost({ url: server.url, timeoutMs: 60_000 });
    const other = new OtlpPost({ url: server.url, timeoutMs: 60_000, signal: "METRICS" });
    expect([(await post.send(BYTES)).kind, (await other.send(BYTES)).kind]).toEqual([
      "taken",
      "taken",
    ]);
    expect(warnings).toEqual([
      "entelix-otel: export: Error: HTTP_PROXY, HTTPS_PROXY: expected an http or https URL; connecting without a proxy",
    ]);
  });
});
