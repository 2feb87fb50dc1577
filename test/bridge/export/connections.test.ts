import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { OtlpPost } from "../../../src/bridge/export/otlp-post.ts";
import { ProtobufServer, portOf } from "./support/protobuf-server.ts";
import { selfSigned } from "./support/self-signed.ts";

const BYTES = Buffer.from("0a00", "hex");
const TAKEN = { kind: "taken", refused: 0 };

afterEach(() => {
  vi.unstubAllEnvs();
  vi.doUnmock("@opentelemetry/otlp-exporter-base/node-http");
  vi.resetModules();
});

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/**
 * A receiver below HTTP.
 *
 * @param take told of each piece that comes, with its number in the connection from 0.
 */
async function rawServer(take: (socket: Socket, piece: number) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    let pieces = 0;
    socket.on("data", () => take(socket, pieces++));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${portOf(server.address())}/v1/traces`;
  return { url, connections: () => sockets.size };
}

describe("connections", () => {
  it("are kept from request to request", async () => {
    await using server = await ProtobufServer.start();
    const post = new OtlpPost({ url: server.url, timeoutMs: 5_000 });
    for (let n = 0; n < 3; n++) expect(await post.send(BYTES)).toEqual(TAKEN);
    expect(new Set(server.ports).size).toBe(1);
    expect(server.requests).toHaveLength(3);
  });

  it("that have gone meanwhile are passed over at once, all of them", async () => {
    const { connections, url } = await rawServer((socket, piece) => {
      if (piece === 0) socket.write(OK);
      else socket.resetAndDestroy();
    });
    const post = new OtlpPost({ url, timeoutMs: 5_000 });
    expect(await Promise.all([1, 2, 3].map(() => post.send(BYTES)))).toEqual([TAKEN, TAKEN, TAKEN]);
    expect(connections()).toBe(3);
    expect(await post.send(BYTES)).toEqual(TAKEN);
    expect(connections()).toBe(4);
  });

  it("that a new request has made and that break are a failure", async () => {
    const { connections, url } = await rawServer((socket) => void socket.resetAndDestroy());
    const answer = await new OtlpPost({ url, timeoutMs: 5_000 }).send(BYTES);
    expect(answer).toMatchObject({ kind: "failed", error: { code: "ECONNRESET" } });
    expect(connections()).toBe(1);
  });

  it("that are closed with something else than an answer are a failure, not a wait for ever", async () => {
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
    for (const said of [upgrade, "HTTP/1.1 200 OK\r\nContent-", "nonsense\r\n\r\n"]) {
      const { url } = await rawServer((socket) => void socket.end(said));
      const answer = await new OtlpPost({ url, timeoutMs: 60_000 }).send(BYTES);
      expect(answer).toMatchObject({ kind: "failed", error: expect.any(Error) });
    }
  });

  it("that break after the status has come are not asked again", async () => {
    const { connections, url } = await rawServer((socket) => {
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    });
    expect(await new OtlpPost({ url, timeoutMs: 5_000 }).send(BYTES)).toEqual(TAKEN);
    expect(connections()).toBe(1);
  });

  it("are kept with the exporter packages of old, which give options and no factory", async () => {
    const path = "@opentelemetry/otlp-exporter-base/node-http";
    vi.resetModules();
    vi.doMock(path, async (original) => {
      const real = await original<typeof import("@opentelemetry/otlp-exporter-base/node-http")>();
      const convert: typeof real.convertLegacyHttpOptions = (...args) => {
        const { agentFactory: _, ...others } = real.convertLegacyHttpOptions(...args);
        // As version 0.200 has it.
        return Object.assign(JSON.parse("{}"), others, { agentOptions: { keepAlive: true } });
      };
      return { ...real, convertLegacyHttpOptions: convert };
    });
    const { OtlpPost: OldPost } = await import("../../../src/bridge/export/otlp-post.ts");
    await using server = await ProtobufServer.start();
    const post = new OldPost({ url: server.url, timeoutMs: 5_000 });
    for (let n = 0; n < 2; n++) expect(await post.send(BYTES)).toEqual(TAKEN);
    expect(new Set(server.ports).size).toBe(1);
  });
});

describe("an endpoint behind TLS", () => {
  /** A receiver with a certificate that nobody knows, and the file that vouches for it. */
  async function secureServer() {
    const { cert, key } = selfSigned();
    const bodies: Buffer[] = [];
    const server = createHttpsServer({ cert, key }, (request, response) => {
      request.on("data", (part: Buffer) => bodies.push(part));
      request.on("end", () => response.writeHead(200).end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const folder = mkdtempSync(join(tmpdir(), "entelix-otel-test-"));
    const file = join(folder, "cert.pem");
    writeFileSync(file, cert);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    });
    return { url: `https://127.0.0.1:${portOf(server.address())}/v1/traces`, file, bodies };
  }

  it.each(["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"])(
    "is trusted by %s",
    async (variable) => {
      const { bodies, file, url } = await secureServer();
      vi.stubEnv(variable, file);
      expect(await new OtlpPost({ url, timeoutMs: 5_000 }).send(BYTES)).toEqual(TAKEN);
      expect(bodies).toEqual([BYTES]);
    },
  );

  it("that nobody vouches for gets nothing, and what was to be sent waits", async () => {
    const { bodies, url } = await secureServer();
    expect(await new OtlpPost({ url, timeoutMs: 5_000 }).send(BYTES)).toMatchObject({
      kind: "failed",
      error: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    });
    expect(bodies).toEqual([]);
  });
});
