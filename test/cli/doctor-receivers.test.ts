import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerOptions } from "node:https";
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { selfSigned } from "../bridge/export/support/self-signed.ts";
import { listening } from "../support/listening.ts";
import { OtlpServer } from "../support/otlp-server.ts";
import { command } from "./support/any-process.ts";

const { key, cert } = selfSigned();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "entelix-otel-test-"));
  writeFileSync(join(folder, "ca.pem"), cert);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A receiver by TLS that takes everything. */
class TlsServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(options: ServerOptions) {
    this.#server = createServer({ key, cert, ...options }, (request, response) => {
      request.resume().on("end", () => response.end());
    });
  }

  static async start(options: ServerOptions = {}): Promise<TlsServer> {
    const tls = new TlsServer(options);
    await new Promise<void>((resolve) => tls.#server.listen(0, "127.0.0.1", resolve));
    return tls;
  }

  get url(): string {
    const address = this.#server.address();
    return `https://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** What it says of the receiver of spans: the finding and the advice below it. */
async function said(url: string, env: Record<string, string> = {}) {
  const { code, stdout } = await command(["doctor", "--endpoint", url], { env });
  const lines = stdout.split("\n");
  const at = lines.findIndex((line) => line.includes(" endpoint "));
  return { code, finding: lines[at], advice: lines[at + 1]?.trim() };
}

describe.concurrent("doctor and a receiver that is there", () => {
  it.each([
    [429, "Too Many Requests"],
    [503, "Service Unavailable"],
  ])("which answers %i: it is not to be started", async (status, words) => {
    await using busy = await OtlpServer.start({ answer: () => status });
    expect(await said(busy.url)).toEqual({
      code: 2,
      finding: `✗ endpoint ${busy.url}/v1/traces: HTTP ${status} ${words} (it takes nothing now)`,
      advice:
        "The receiver runs, but its memory or queue is full, or its backend does not answer. See the receiver's log.",
    });
  });

  it("whose certificate nobody vouches for: says which variable does", async () => {
    await using tls = await TlsServer.start();
    expect(await said(tls.url)).toEqual({
      code: 2,
      // Newer versions of Node add what they advise.
      finding: expect.stringMatching(
        new RegExp(`^✗ endpoint ${tls.url}/v1/traces: self-signed certificate(; |$)`),
      ),
      advice:
        "Its certificate is not trusted. Set OTEL_EXPORTER_OTLP_CERTIFICATE to a PEM file with its authority.",
    });
    const trusting = { OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, "ca.pem") };
    expect(await said(tls.url, trusting)).toMatchObject({
      code: 0,
      finding: `✓ endpoint ${tls.url}/v1/traces takes spans`,
    });
  });

  it("whose certificate is for another name: does not ask for its authority", async () => {
    await using tls = await TlsServer.start();
    const other = tls.url.replace("127.0.0.1", "localhost");
    const trusting = { OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, "ca.pem") };
    const { code, finding, advice } = await said(other, trusting);
    expect(finding).toContain("does not match certificate's altnames");
    expect([code, advice]).toEqual([
      2,
      "Its certificate is not valid. Fix it, or use a host name that it contains.",
    ]);
  });

  it("which asks for a certificate: says which variables give one", async () => {
    await using tls = await TlsServer.start({ requestCert: true });
    const trusting = { OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, "ca.pem") };
    const { code, finding, advice } = await said(tls.url, trusting);
    expect(finding).toContain("alert certificate required");
    expect([code, advice]).toEqual([
      2,
      "It requires a client certificate. Set OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY.",
    ]);
  });

  it("which speaks no TLS: says so", async () => {
    await using plain = await OtlpServer.start();
    const { code, advice } = await said(plain.url.replace("http:", "https:"));
    expect([code, advice]).toEqual([
      2,
      "It does not use TLS on this port: try http:// instead of https://.",
    ]);
  });

  it("which speaks gRPC on a port of its own: says that it is there", async () => {
    // Its settings frame, with which every HTTP/2 server begins.
    const server = createNetServer((socket) => {
      socket.resume().end("\0\0\0\x04\0\0\0\0\0", "latin1");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : "";
    try {
      const { code, advice } = await said(`http://127.0.0.1:${port}`);
      expect([code, advice]).toEqual([
        2,
        "Set --endpoint or OTEL_EXPORTER_OTLP_ENDPOINT to the receiver's port for OTLP/HTTP, usually 4318.",
      ]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it.each([
    ["a page, as Jaeger's", "text/html", "<!doctype html>", ""],
    ["a health check", "application/json", '{"status":"up"}', ': {"status":"up"}'],
  ])("which is %s: says that it is no receiver", async (_, type, body, more) => {
    await using server = await listening((request, response) => {
      request.resume().on("end", () => response.setHeader("content-type", type).end(body));
    });
    expect(await said(server.url)).toEqual({
      code: 2,
      finding: `✗ endpoint ${server.url}/v1/traces: not an OTLP receiver: it answers 200 with ${type}${more}`,
      advice:
        "Another server answers there, such as Jaeger's page (16686) or the collector's health check (13133). OTLP/HTTP is usually on port 4318, at the path /v1/traces.",
    });
  });

  it("which answers 400 at a path that it does not have: names the path, not the protocol", async () => {
    await using server = await listening((request, response) => {
      const text = `unsupported path requested: "${request.url}"`;
      request.resume().on("end", () => response.writeHead(400).end(text));
    });
    expect(await said(server.url)).toEqual({
      code: 2,
      finding: `✗ endpoint ${server.url}/v1/traces: HTTP 400 Bad Request: unsupported path requested: "/v1/traces"`,
      advice:
        "The receiver has no such path. OTLP/HTTP is usually on port 4318, at the path /v1/traces. VictoriaMetrics takes only metrics, at /opentelemetry/v1/metrics.",
    });
  });

  it("which refuses with a text that repeats the credentials: shows the text without them", async () => {
    await using server = await listening((request, response) => {
      const { authorization } = request.headers;
      request
        .resume()
        .on("end", () => response.writeHead(401).end(`no such key: ${authorization}`));
    });
    const env = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20s3cret-key" };
    const { stdout } = await command(["doctor", "--endpoint", server.url], { env });
    expect(stdout).toContain("/v1/traces: HTTP 401 Unauthorized: no such key: (hidden)\n");
    expect(stdout).not.toContain("s3cret");
  });

  it("which is not asked, since no request can carry the headers: shows none of them", async () => {
    await using server = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_HEADERS: "Authorization: Bearer s3cret==" };
    const { code, stdout } = await command(["doctor", "--endpoint", server.url], { env });
    expect(code).toBe(2);
    expect(stdout).toContain(
      "✗ OTEL_EXPORTER_OTLP_HEADERS: expected name=value pairs, comma-separated and percent-encoded; no request can carry pair 1\n",
    );
    expect(stdout).toContain(
      `✗ endpoint ${server.url}/v1/traces: a header has a name that HTTP can't carry\n    No request can carry the headers of OTEL_EXPORTER_OTLP_HEADERS.\n`,
    );
    expect(stdout).not.toContain("s3cret");
  });
});
