import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { ProtobufServer } from "../bridge/export/support/protobuf-server.ts";
import { deadUrl, OtlpServer } from "../support/otlp-server.ts";
import { command } from "./support/any-process.ts";
import { completed, recording, started } from "./support/recorded.ts";

const FILES = [recording("success"), recording("nested_subagent")];

async function replayTo(url: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await command(
    ["replay", ...FILES, "--endpoint", url, "--json"],
    {
      env,
    },
  );
  const summary: { sent: Record<string, unknown>; spans: number } = JSON.parse(stdout);
  return { code, stderr, summary };
}

describe("replay --endpoint", () => {
  it("delivers every span, with the headers and compression of the environment", async () => {
    await using server = await OtlpServer.start();
    const { code, summary } = await replayTo(server.url, {
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_TRACES_SAMPLER: "always_off",
      OTEL_SERVICE_NAME: "support",
    });
    expect(summary.sent).toEqual({ url: `${server.url}/v1/traces`, delivered: 9, undelivered: 0 });
    expect(code).toBe(0);
    expect(server.faults).toEqual([]);
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1/traces", "Bearer x"],
    ]);
    expect(server.requests[0]?.headers["content-encoding"]).toBe("gzip");
    expect(server.requests[0]?.headers["content-type"]).toBe("application/x-protobuf");
    expect(server.span("invoke_agent coordinator")).toMatchObject({
      traceId: "01a1fbfa496871c58c192e5f98e57b52",
      spanId: "8c192e5f98e57b52",
      resource: { "service.name": "support" },
    });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "application/json"],
    [
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
      },
      "application/x-protobuf",
    ],
  ])("sends what %j asks for, and says the same in both", async (env, type) => {
    await using server = await OtlpServer.start();
    const { code, stderr } = await replayTo(server.url, env);
    expect([code, stderr]).toEqual([0, ""]);
    expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual([type]);
    await using another = await OtlpServer.start();
    await replayTo(another.url);
    expect(server.spans).toHaveLength(9);
    expect(server.spans).toEqual(another.spans);
  });

  it("says that it can't send by gRPC", async () => {
    await using server = await OtlpServer.start();
    const { code, stderr } = await replayTo(server.url, { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    expect([code, server.spans.length]).toEqual([0, 9]);
    expect(stderr).toBe(
      "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: gRPC is not supported, http/protobuf is used: set the variable to it, and the endpoint to the receiver's port for OTLP/HTTP, usually 4318\n",
    );
  });

  it("takes an address with the path as it is", async () => {
    await using server = await OtlpServer.start();
    await replayTo(`${server.url}/v1/traces/`);
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/traces"]);
  });

  it("tries again when the receiver is busy", async () => {
    await using server = await OtlpServer.start({
      answer: (request) => (request === 0 ? 503 : 200),
    });
    const { code, summary } = await replayTo(server.url);
    expect([code, server.requests.length, server.spans.length]).toEqual([0, 2, 9]);
    expect(summary.sent).toMatchObject({ delivered: 9, undelivered: 0 });
  });

  it("sends smaller requests where they are too large", async () => {
    await using server = await OtlpServer.start({
      answer: (request) => ((server.requests[request]?.spans.length ?? 0) > 3 ? 413 : 200),
    });
    const { code, summary } = await replayTo(server.url);
    expect([code, server.spans.length]).toEqual([0, 9]);
    expect(summary.sent).toMatchObject({ delivered: 9, undelivered: 0 });
  });

  it.each(["http/protobuf", "http/json"])(
    "sends smaller requests where a collector says so, in %s",
    async (protocol) => {
      const text = "http: request body too large";
      const said = {
        "http/protobuf": Buffer.from(`\x08\x03\x12\x1c${text}`),
        "http/json": Buffer.from(JSON.stringify({ code: 3, message: text })),
      }[protocol];
      const sizes: number[] = [];
      await using server = await ProtobufServer.start((_, body) => {
        sizes.push(body.length);
        return body.length > 2_000 ? { status: 400, body: said ?? body } : { status: 200 };
      });
      const { code, summary } = await replayTo(server.url, {
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      });
      expect(code).toBe(0);
      expect(summary.sent).toMatchObject({ delivered: 9, undelivered: 0 });
      expect(Math.max(...sizes)).toBeGreaterThan(2_000);
    },
  );

  it.each(["CERTIFICATE", "TRACES_CLIENT_CERTIFICATE", "CLIENT_KEY"])(
    "says that the file of OTEL_EXPORTER_OTLP_%s can't be read",
    async (variable) => {
      await using server = await OtlpServer.start();
      const { code, stderr } = await replayTo(server.url, {
        [`OTEL_EXPORTER_OTLP_${variable}`]: "not-there.pem",
      });
      expect([code, server.spans.length]).toEqual([0, 9]);
      expect(stderr).toMatch(/^Failed to read (root|client) certificate[a-z ]* file\n$/);
    },
  );

  it.each([
    ["refuses the request", 400, "HTTP 400 Bad Request"],
    ["wants to know who asks", 401, "HTTP 401 Unauthorized"],
  ])("counts what is lost when the receiver %s", async (_, status, trouble) => {
    await using server = await OtlpServer.start({ answer: () => status });
    const { code, summary } = await replayTo(server.url);
    expect(code).toBe(1);
    expect(summary.sent).toMatchObject({ delivered: 0, undelivered: 9, trouble });
  });

  it("counts the spans that a receiver refuses of a request it takes", async () => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        const partialSuccess = { rejectedSpans: "2", errorMessage: "too old" };
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ partialSuccess }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { code, summary } = await replayTo(`http://127.0.0.1:${port}`);
    server.closeAllConnections();
    server.close();
    expect(code).toBe(1);
    expect(summary.sent).toMatchObject({
      delivered: 7,
      undelivered: 2,
      trouble: "the receiver refused spans: too old",
    });
  });

  it("sends one request at a time, of 512 spans at most, and waits for a slow receiver", async () => {
    let now = 0;
    let most = 0;
    await using server = await OtlpServer.start({
      before: async () => {
        now++;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        now--;
      },
    });
    const stdin = Array.from({ length: 3_000 }, () => {
      const run_id = crypto.randomUUID();
      return `${started({ run_id })}\n${completed({ run_id })}\n`;
    }).join("");
    const { code } = await command(["replay", "-", "--endpoint", server.url], { stdin });
    expect([code, most, server.spans.length]).toEqual([0, 1, 3_000]);
    const sizes = server.requests.map((request) => request.spans.length);
    expect(Math.max(...sizes)).toBe(512);
    expect(new Set(server.spans.map((span) => span.traceId)).size).toBe(3_000);
  });

  it.each([
    ["http://replay.invalid:4318", 1],
    ["http://replay.invalid:4319", 0],
  ])("to %s warns %i times that it would be counted", async (url, warnings) => {
    const { code, stderr, summary } = await replayTo(url, { OTEL_EXPORTER_OTLP_TIMEOUT: "300" });
    // Nobody is there: a name below .invalid leads nowhere.
    expect([code, summary.spans]).toEqual([1, 9]);
    expect(stderr.match(/port 4318 is for live spans: .* to port 4319\n/g) ?? []).toHaveLength(
      warnings,
    );
  });

  it("does not show the password of an address", async () => {
    await using server = await OtlpServer.start();
    const { summary } = await replayTo(server.url.replace("//", "//me:secret@"));
    expect(summary.sent).toMatchObject({ url: `${server.url}/v1/traces`, delivered: 9 });
    const basic = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    expect(server.requests[0]?.headers.authorization).toBe(basic);
  });

  it("gives up on an endpoint where nobody is, and still counts the runs", async () => {
    const url = await deadUrl();
    const env = { OTEL_EXPORTER_OTLP_TIMEOUT: "300" };
    const { code, summary } = await replayTo(url, env);
    expect([code, summary.spans]).toEqual([1, 9]);
    expect(summary.sent).toMatchObject({ delivered: 0, undelivered: 9 });
    expect(summary.sent.trouble).toContain("ECONNREFUSED");
  });

  it("says it in words without --json", async () => {
    const url = await deadUrl();
    const { stdout } = await command(["replay", ...FILES, "--endpoint", url], {
      env: { OTEL_EXPORTER_OTLP_TIMEOUT: "300" },
    });
    expect(stdout).toContain(
      `9 spans could not be delivered to ${url}/v1/traces: connect ECONNREFUSED`,
    );
  });
});
