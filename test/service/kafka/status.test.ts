import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { consumeMetricsText } from "../../../src/service/kafka/consume-metrics.ts";
import { StatusServer } from "../../../src/service/kafka/status-server.ts";
import { RawConnection } from "../http/support/raw-connection.ts";
import { NO_FIGURES } from "./processor-figures.ts";

const PARTITION = {
  topic: "events",
  partition: 3,
  committed: 40,
  behind: 2,
  stuckMs: 2500,
  processor: { ...NO_FIGURES, lines: 9, openRuns: 1, stalled: true, lagMs: 1500 },
};

describe("consumeMetricsText", () => {
  it("says what is and what was, by partition", () => {
    const text = consumeMetricsText({
      partitions: [PARTITION],
      rejected: 5,
      recordsLost: 2,
      deadLetters: 4,
      deadLettersCut: 3,
      deadLettersLost: 1,
    });
    expect(text).toContain('entelix_consume_lines_total{topic="events",partition="3"} 9\n');
    expect(text).toContain('entelix_consume_open_runs{topic="events",partition="3"} 1\n');
    expect(text).toContain('entelix_consume_stalled{topic="events",partition="3"} 1\n');
    expect(text).toContain('entelix_consume_behind_records{topic="events",partition="3"} 2\n');
    expect(text).toContain('entelix_consume_event_age_seconds{topic="events",partition="3"} 1.5\n');
    expect(text).toContain('entelix_consume_committed_offset{topic="events",partition="3"} 40\n');
    expect(text).toContain('entelix_consume_stuck_seconds{topic="events",partition="3"} 2.5\n');
    expect(text).toContain("\nentelix_consume_rejected_total 5\n");
    expect(text).toContain("\nentelix_consume_records_lost_total 2\n");
    expect(text).toContain("\nentelix_consume_dead_letters_total 4\n");
    expect(text).toContain("\nentelix_consume_dead_letters_cut_total 3\n");
    expect(text).toContain("\nentelix_consume_dead_letters_lost_total 1\n");
    expect(text.endsWith("entelix_consume_partitions 1\n")).toBe(true);
  });

  it("has a type for each series, and leaves out what is not known yet", () => {
    const text = consumeMetricsText({
      partitions: [{ ...PARTITION, behind: undefined }],
      rejected: 0,
      recordsLost: 0,
      deadLetters: 0,
      deadLettersCut: 0,
      deadLettersLost: 0,
    });
    expect(text).not.toContain("behind_records{");
    const series = new Set([...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name]) => name));
    for (const name of series)
      expect(text).toMatch(new RegExp(`^# TYPE ${name} (counter|gauge)$`, "m"));
    expect(series.size).toBeGreaterThan(15);
  });
});

describe("StatusServer", () => {
  const servers: StatusServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  async function listen(notReady: () => string | undefined = () => undefined) {
    const server = await StatusServer.listen({
      host: "127.0.0.1",
      port: 0,
      notReady,
      metrics: () => "a 1\n",
      onError: (error) => {
        throw error;
      },
    });
    servers.push(server);
    return server.port;
  }

  function ask(port: number, path: string, method = "GET", host = "localhost") {
    return new Promise<{ status: number | undefined; text: string; type: string | undefined }>(
      (resolve, reject) => {
        const asked = request({ port, path, method, headers: { host } }, (response) => {
          const { statusCode: status, headers } = response;
          response.setEncoding("utf8");
          let text = "";
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => resolve({ status, text, type: headers["content-type"] }));
        });
        asked.on("error", reject).end();
      },
    );
  }

  it("answers whether it is there, and ready", async () => {
    let reason: string | undefined = "not a member of its group yet";
    const port = await listen(() => reason);
    expect(await ask(port, "/healthz")).toMatchObject({ status: 200, text: "ok\n" });
    expect(await ask(port, "/readyz")).toMatchObject({ status: 503, text: `${reason}\n` });
    reason = undefined;
    expect(await ask(port, "/readyz?full")).toMatchObject({ status: 200, text: "ready\n" });
  });

  it("answers figures, in Prometheus' type", async () => {
    const port = await listen();
    expect(await ask(port, "/metrics")).toEqual({
      status: 200,
      text: "a 1\n",
      type: "text/plain; version=0.0.4; charset=utf-8",
    });
    expect(await ask(port, "/metrics", "HEAD")).toMatchObject({ status: 200, text: "" });
  });

  it("refuses other paths, methods and hosts", async () => {
    const port = await listen();
    for (const [code, status, path, method, host] of [
      ["not_found", 404, "/", "GET", "localhost"],
      ["method", 405, "/metrics", "POST", "localhost"],
      ["host", 421, "/metrics", "GET", "evil.example"],
    ] as const) {
      const { text, ...answer } = await ask(port, path, method, host);
      expect(answer).toEqual({ status, type: "application/json" });
      expect(JSON.parse(text)).toEqual({ error: { code, message: expect.stringMatching(/\w/) } });
    }
  });

  it("serves one request after the other on a connection, and says what follows is none", async () => {
    const port = await listen();
    const get = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    using raw = new RawConnection(port).send(get + get, "nonsense", "", "");
    const text = await raw.end();
    expect([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual([
      ...["200", "200", "400"],
    ]);
    expect(text.match(/connection: close/gi)?.length).toBe(1);
    using bad = new RawConnection(port);
    bad.send(
      "POST /metrics HTTP/1.1",
      "host: localhost",
      "transfer-encoding: chunked",
      "",
      "zz",
      "",
    );
    bad.socket.end();
    expect((await bad.end()).match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 405"]);
  });

  it("answers what is no request of HTTP, as `serve` does", async () => {
    const port = await listen();
    for (const [code, status, ...lines] of [
      ["bad_request", 400, "nonsense"],
      ["bad_request", 400, "GET /healthz HTTP/1.1"],
      ["not_implemented", 501, "CONNECT localhost:1 HTTP/1.1", "host: localhost:1"],
      ["expectation", 417, "GET /healthz HTTP/1.1", "host: localhost", "expect: more"],
      [
        "not_implemented",
        501,
        "GET /healthz HTTP/1.1",
        "host: localhost",
        "transfer-encoding: gzip, chunked",
      ],
      ["head_size", 431, "GET /healthz HTTP/1.1", `host: ${"x".repeat(20_000)}`],
    ] as const) {
      using raw = new RawConnection(port).send(...lines, "connection: close", "", "");
      const text = await raw.until("}}");
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"code":"${code}"`, "s"));
    }
  });
});
