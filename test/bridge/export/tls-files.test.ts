import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { diag } from "@opentelemetry/api";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { OtlpPost } from "../../../src/bridge/export/otlp-post.ts";
import { TlsFiles } from "../../../src/bridge/export/tls-files.ts";
import { portOf } from "./support/protobuf-server.ts";
import { type SelfSigned, selfSigned } from "./support/self-signed.ts";

const BYTES = Buffer.from("0a00", "hex");

afterEach(() => {
  vi.unstubAllEnvs();
  diag.disable();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "entelix-otel-test-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** As secrets are replaced: by another file under the same name. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** A receiver by TLS that notes the client certificate of each request. */
async function tlsServer({ cert, key }: SelfSigned, clients: SelfSigned[]) {
  const asked: (string | undefined)[] = [];
  const server = createServer(
    {
      cert,
      key,
      requestCert: true,
      rejectUnauthorized: false,
      ca: clients.map((each) => each.cert),
    },
    (request, response) => {
      // `TLSSocket` by type, since the server is one of TLS.
      const socket = request.socket as TLSSocket;
      asked.push(socket.getPeerX509Certificate()?.toString());
      request.resume().on("end", () => response.end());
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    asked,
    url: `https://127.0.0.1:${portOf(server.address())}/v1/traces`,
    renew: (next: SelfSigned) => server.setSecureContext({ cert: next.cert, key: next.key }),
    drop: () => server.closeAllConnections(),
  };
}

it.each([
  ["missing", undefined],
  ["of another form", "not a certificate"],
])("a file that is %s is reported once, with its variable", async (_, text) => {
  const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => warnings.mockRestore());
  const path = join(folder(), "ca.pem");
  if (text !== undefined) writeFileSync(path, text);
  vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", path);
  await new TlsFiles("TRACES").current();
  await new TlsFiles("METRICS").current();
  expect(warnings.mock.calls.map(([line]) => line)).toEqual([
    `entelix-otel: OTEL_EXPORTER_OTLP_CERTIFICATE: expected a PEM file, got none: ${path}`,
  ]);
});

describe("certificates of the exporter", () => {
  it("are read again when their files change, on connections that stay open", async () => {
    const [authority, before, after] = [selfSigned(), selfSigned(), selfSigned()];
    const path = folder();
    const file = (name: string) => join(path, name);
    writeFileSync(file("ca.pem"), authority.cert);
    writeFileSync(file("client.pem"), before.cert);
    writeFileSync(file("client.key"), before.key);
    vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", file("ca.pem"));
    vi.stubEnv("OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", file("client.pem"));
    vi.stubEnv("OTEL_EXPORTER_OTLP_CLIENT_KEY", file("client.key"));
    const server = await tlsServer(authority, [before, after]);
    const post = new OtlpPost({ url: server.url, timeoutMs: 60_000 });
    const send = async () => (await post.send(BYTES)).kind;

    expect([await send(), await send()]).toEqual(["taken", "taken"]);
    replace(file("client.pem"), after.cert);
    // The key is not there yet.
    expect(await send()).toBe("taken");
    replace(file("client.key"), after.key);
    expect(await send()).toBe("taken");
    expect(server.asked).toEqual([before.cert, before.cert, before.cert, after.cert]);

    const nextAuthority = selfSigned();
    server.renew(nextAuthority);
    server.drop();
    expect(await send()).toBe("failed");
    replace(file("ca.pem"), nextAuthority.cert);
    expect(await send()).toBe("taken");
  });

  it("are read before the first requests, also those at the same time", async () => {
    const [authority, client] = [selfSigned(), selfSigned()];
    const path = folder();
    writeFileSync(join(path, "ca.pem"), authority.cert);
    vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", join(path, "ca.pem"));
    const server = await tlsServer(authority, [client]);
    const post = new OtlpPost({ url: server.url, timeoutMs: 60_000 });
    const sent = await Promise.all([post.send(BYTES), post.send(BYTES), post.send(BYTES)]);
    expect(sent.map(({ kind }) => kind)).toEqual(["taken", "taken", "taken"]);
  });

  it("stay in use while the files are gone or do not fit, with a warning", async () => {
    const [before, after] = [selfSigned(), selfSigned()];
    const path = folder();
    const [cert, key] = [join(path, "client.pem"), join(path, "client.key")];
    writeFileSync(cert, before.cert);
    writeFileSync(key, before.key);
    vi.stubEnv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", cert);
    vi.stubEnv("OTEL_EXPORTER_OTLP_CLIENT_KEY", key);
    const warnings: string[] = [];
    const silent = () => {};
    diag.setLogger({
      warn: (text) => void warnings.push(text),
      error: silent,
      info: silent,
      debug: silent,
      verbose: silent,
    });
    const files = new TlsFiles("TRACES");
    const used = { cert: Buffer.from(before.cert), key: Buffer.from(before.key) };
    expect(await files.current()).toEqual(used);
    rmSync(cert);
    expect(await files.current()).toEqual(used);
    expect(warnings).toEqual([]);
    writeFileSync(cert, after.cert);
    expect(await files.current()).toEqual(used);
    expect(warnings).toEqual([
      expect.stringMatching(/^entelix-otel: certificate files: .*; using the ones before$/),
    ]);
    writeFileSync(key, after.key);
    expect(await files.current()).toEqual({
      cert: Buffer.from(after.cert),
      key: Buffer.from(after.key),
    });
  });
});
