import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { metricsText } from "../../../src/service/kafka/metrics-text.ts";
import { StatusServer } from "../../../src/service/kafka/status-server.ts";
import { NO_FIGURES } from "./lane-figures.ts";

const PARTITION = {
  topic: "events",
  partition: 3,
  committed: 40,
  behind: 2,
  lane: { ...NO_FIGURES, lines: 9, openRuns: 1, stalled: true, lagMs: 1500 },
};

describe("metricsText", () => {
  it("says what is and what was, by partition", () => {
    const text = metricsText({
      partitions: [PARTITION],
      rejected: 5,
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
    expect(text).toContain("\nentelix_consume_rejected_total 5\n");
    expect(text).toContain("\nentelix_consume_dead_letters_total 4\n");
    expect(text).toContain("\nentelix_consume_dead_letters_cut_total 3\n");
    expect(text).toContain("\nentelix_consume_dead_letters_lost_total 1\n");
    expect(text.endsWith("entelix_consume_partitions 1\n")).toBe(true);
  });

  it("has a type for each series, and leaves out what is not known yet", () => {
    const text = metricsText({
      partitions: [{ ...PARTITION, behind: undefined }],
      rejected: 0,
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
    expect((await ask(port, "/")).status).toBe(404);
    expect((await ask(port, "/metrics", "POST")).status).toBe(405);
    expect((await ask(port, "/metrics", "GET", "evil.example")).status).toBe(403);
  });
});
