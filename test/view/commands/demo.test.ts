import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { RAW_CONTROL } from "../../cli/support/recorded.ts";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { viewedList } from "../support/view-documents.ts";

/** Of all runs. */
const MADE = "239 spans (27 runs, 41 tool calls)";
const SPANS = 239;

/** The short recordings, and the support agent's runs in the order of their ends. */
const TITLES = [
  "Three tool calls",
  "A tool fails, the run goes on",
  "A tool fails for good",
  "The model is down",
  "A sub-agent",
  "One call approved, one denied",
  "Waits for an approval",
  "Approved: goes on as a new run",
  "Cancelled",
  "Two tenants at once",
  "Two tenants at once",
  "acme: Where is order 17?",
  "acme: I was charged twice for order 23. Please refund me 41…",
  "initech: Do you deliver on Saturdays?",
  "globex: Which paper does the P40 printer take?",
  "acme: I am not at home on Thursday. What can I do?",
  "initech: Please mail me invoice 88 again.",
  "globex: And how do I clear a paper jam?",
  "initech: Refund me 900 EUR for order 90.",
  "acme: Can I return the tent of order 31? I slept in it for …",
  "globex: Is my printer repaired? The number is R-77.",
  "initech: sam@initech.test denied refund after 48.0 s",
  "acme: ann@acme.test edited refund after 2 min",
  "initech: The desk of order 92 arrived broken. I want my mon…",
  "acme: Why 36.90 and not 41.90?",
];

describe.concurrent("demo", () => {
  it("plays every recording, and prints one conversation, failures, decisions, cost and the log", async () => {
    using folder = new Folder();
    const { code, stdout, stderr } = await command(["demo"], { env: { TMPDIR: folder.path } });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(RAW_CONTROL);
    const [heading, ...sections] = stdout.split("\n\n");
    expect(heading).toBe(
      "Playing the conversations of a support agent, 9 recordings of real agents, and 1 that is constructed.",
    );
    expect(sections.map((text) => text.split("\n")[0])).toEqual([
      "A refund that a person changed, without the steps of the graph",
      "Failed runs by tenant",
      "Decisions",
      "Cost by tenant",
      "Audit log",
      "Traces",
      "To see these runs in the browser",
    ]);
    expect(stdout).toMatch(
      /invoke_agent support .*paused: approval_pending\n├─ chat demo-large .*\n├─ execute_tool look_up_order .*\n├─ execute_tool list_payments .*\n└─ chat demo-large .*✓ complete\ntrace /,
    );
    expect(stdout).toMatch(
      /resumes run \S+\n├─ execute_tool refund .*✗ error: transient, edited by ann@acme\.test after 2 min "payment service answered 503: overloaded, nothing was paid"\n├─ execute_tool refund .*✓ complete\n└─ chat demo-large /,
    );
    expect(stdout).toContain(
      [
        "Failed runs by tenant",
        "tenant   tool_error_terminal  usage_limit_exceeded  cancelled  model_dispatch  failed runs",
        "acme                       1                     0          1               0            2",
        "globex                     0                     1          0               1            2",
        "initech                    1                     0          0               0            1",
      ].join("\n"),
    );
    expect(stdout).toMatch(
      /\nacme {5}ann@acme\.test edited refund after 2 min .* I was charged twice/,
    );
    expect(stdout).toMatch(
      /\ninitech {2}waits for a person since \S+ s: refund \{"order":92,"euros":249\} {2}The desk of order 92/,
    );
    expect(stdout).toContain("\nacme     double was approved\n");
    expect(stdout).toContain(
      [
        "Cost by tenant",
        "tenant   runs  input tokens  output tokens  cost",
        "acme       15          5845            496  $0.0163",
        "globex      5          7177            241  $0.0114",
        "initech     5          4189            145  $0.0067",
      ].join("\n"),
    );
    const [name = ""] = readdirSync(folder.path);
    expect(name).toMatch(/^entelix-otel-demo-/);
    const [audit, events] = [`${folder.at(name)}/audit`, `${folder.at(name)}/events.ndjson`];
    expect(stdout).toContain(
      `Audit log\n${audit}: 149 rows in 19 threads. ✓ the chain holds\n` +
        // As it can be run where the package is a dependency, and in a clone.
        `  npx entelix-otel audit show ${audit}\n` +
        `  npx entelix-otel audit verify ${audit}\n`,
    );
    expect(stdout).toContain(`${MADE}. Nothing was sent: no endpoint is configured.`);
    expect(stdout.endsWith(`\n  npx entelix-otel view --open ${audit} ${events}\n`)).toBe(true);
    const verified = await command(["audit", "verify", audit]);
    expect(verified.code).toBe(0);
    const { runs } = await viewedList([audit, events]);
    expect(runs).toHaveLength(27);
    const answers = runs.flatMap(({ answer, rows }) => (answer === undefined ? [] : [rows]));
    // They have messages, from the recording, and the log's rows.
    expect(answers.length).toBeGreaterThan(9);
    expect(answers.filter((rows) => rows === 0)).toEqual([]);
  });

  it("names each trace by its question, its decision or its recording, with its address in Jaeger", async () => {
    using folder = new Folder();
    await using server = await OtlpServer.start();
    const args = ["demo", "--endpoint", server.url, "--audit", folder.path];
    const { code, stdout } = await command(args);
    expect(code).toBe(0);
    const named = [...stdout.matchAll(/^ {2}(.+?) +http:\S+\/trace\/([0-9a-f]{32})$/gm)];
    expect(named.map(([, title]) => title)).toEqual(TITLES);
    const roots = new Set(server.spans.map(({ traceId }) => traceId));
    expect(new Set(named.map(([, , id]) => id))).toEqual(roots);
  });

  it("opens the page on its runs with --view, until it is asked to end", async () => {
    using folder = new Folder();
    const opened = folder.at("opened");
    writeFileSync(folder.at("xdg-open"), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${folder.path}:${process.env.PATH}` };
    const { code, stderr, stdout } = await command(["demo", "--view", "--audit", folder.at("a")], {
      env,
      onStdout: (text, kill) => {
        if (!text.includes("Ctrl-C")) return;
        void waitForFile(opened).then(() => kill("SIGINT"));
      },
    });
    expect([code, stderr]).toEqual([0, ""]);
    const [, url = ""] = /\nOpen in a browser: (\S+)\n/.exec(stdout) ?? [];
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/);
    expect(readFileSync(opened, "utf8")).toBe(url);
    expect(stdout).not.toContain("To see these runs");
  });

  it("sends every span where it is told to, with run ids of its own each time", async () => {
    using folder = new Folder();
    await using server = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_TRACES_SAMPLER: "always_off" };
    const args = ["demo", "--audit", folder.at("audit"), "--jaeger", "http://jaeger.example"];
    const begun = Date.now();
    const [first, second] = [await command(args, { env }), await command(args, { env })];
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(first.stdout).toContain(
      `${MADE} delivered to ${server.url}/v1/traces, metrics to ${server.url}/v1/metrics.\n`,
    );
    expect(second.stdout).toContain(
      ": 298 rows in 19 threads, including earlier rows. ✓ the chain holds\n",
    );
    expect(server.spans).toHaveLength(2 * SPANS);
    const runs = server.spans.filter((span) => span.name.startsWith("invoke_agent"));
    const roots = runs.filter((span) => span.attributes["entelix.parent_run_id"] === undefined);
    expect(new Set(roots.map((span) => span.traceId)).size).toBe(50);
    for (const root of roots) {
      expect(root.traceId).toBe(String(root.attributes["entelix.run_id"]).replaceAll("-", ""));
      expect(`${first.stdout}${second.stdout}`).toContain(
        `  http://jaeger.example/trace/${root.traceId}\n`,
      );
      const at = Number(BigInt(root.startTimeUnixNano) / 1_000_000n);
      // Of the last ten minutes.
      expect(at).toBeGreaterThanOrEqual(begun - 601_000);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
    expect(runs[0]?.resource["service.name"]).toBe("entelix-demo");
  });

  it("sends metrics of the same runs before it ends, and says where the stack shows them", async () => {
    using folder = new Folder();
    await using server = await OtlpServer.start();
    const args = ["demo", "--endpoint", server.url, "--audit", folder.path];
    const { code, stdout } = await command(args);
    expect(code).toBe(0);
    const ended = server
      .points("entelix.runs")
      .filter(({ value }) => value > 0)
      .map(({ attributes: { "entelix.tenant_id": tenant, ...more }, value }) => [
        tenant,
        more["entelix.failure.kind"] ?? more["entelix.run.outcome"],
        value,
      ]);
    const sums = new Map<string, number>();
    for (const [tenant, outcome, value] of ended) {
      const key = `${tenant} ${outcome}`;
      sums.set(key, (sums.get(key) ?? 0) + Number(value));
    }
    expect(Object.fromEntries(sums)).toEqual({
      "acme complete": 13,
      "acme interrupted": 2,
      "acme tool_error_terminal": 1,
      "acme cancelled": 1,
      "globex complete": 3,
      "globex model_dispatch": 1,
      "globex usage_limit_exceeded": 1,
      "initech complete": 2,
      "initech interrupted": 2,
      "initech tool_error_terminal": 1,
    });
    const [point] = server.points("entelix.runs");
    const [span] = server.spans;
    expect(point?.resource).toEqual(span?.resource);
    expect(server.points("entelix.bridge.spans_dropped").map(({ value }) => value)).toEqual(
      Array(6).fill(0),
    );
    expect(stdout).toContain(
      [
        "In the stack of docker-compose.yml, within a minute:",
        "  dashboards  http://127.0.0.1:3000",
        "  metrics     http://127.0.0.1:9090",
        "  alerts      http://127.0.0.1:9093",
        "",
      ].join("\n"),
    );
  });

  it.each([
    ["OTEL_SDK_DISABLED", "true"],
    ["OTEL_TRACES_EXPORTER", "none"],
  ])("sends nothing with %s=%s, and plays all the same", async (name, value) => {
    using folder = new Folder();
    await using server = await OtlpServer.start();
    const args = ["demo", "--endpoint", server.url, "--audit", folder.path];
    const { code, stdout } = await command(args, { env: { [name]: value } });
    expect([code, server.requests.length]).toEqual([0, 0]);
    expect(stdout).toContain(`${MADE}. Nothing was sent: ${name}=${value}.`);
  });

  it("sends spans alone with OTEL_METRICS_EXPORTER=none, and leads nobody to empty pages", async () => {
    using folder = new Folder();
    await using server = await OtlpServer.start();
    const args = ["demo", "--endpoint", server.url, "--audit", folder.path];
    const { code, stdout } = await command(args, { env: { OTEL_METRICS_EXPORTER: "none" } });
    expect([code, server.spans.length]).toEqual([0, SPANS]);
    expect(server.requests.filter(({ path }) => path !== "/v1/traces")).toEqual([]);
    expect(stdout).toMatch(
      / delivered to http:\S+\/v1\/traces\.\n(?: {2}.+\/trace\/[0-9a-f]{32}\n){25}\nTo see these runs /,
    );
  });

  it("sends spans alone to a receiver that knows no metrics, as Jaeger, and says so", async () => {
    using folder = new Folder();
    await using jaeger = await OtlpServer.start({
      answer: (request) => (request === 0 ? 404 : 200),
    });
    const args = ["demo", "--endpoint", jaeger.url, "--audit", folder.path];
    const { code, stdout } = await command(args);
    expect([code, jaeger.spans.length]).toEqual([0, SPANS]);
    expect(
      jaeger.requests.map(({ path }) => path).filter((path) => path === "/v1/metrics"),
    ).toHaveLength(1);
    expect(stdout).toContain(
      ` delivered to ${jaeger.url}/v1/traces.\nIt takes no metrics; the collector of docker-compose.yml does.\n`,
    );
    expect(stdout).not.toContain("dashboards");
  });

  it("tells of metrics that do not arrive", async () => {
    using folder = new Folder();
    await using traces = await OtlpServer.start();
    const args = ["demo", "--audit", folder.path];
    const env = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${traces.url}/own`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: await deadUrl(),
    };
    const { code, stdout } = await command(args, { env });
    expect(code).toBe(1);
    expect(traces.spans).toHaveLength(SPANS);
    expect(stdout).toContain(` delivered to ${traces.url}/own.\n`);
    expect(stdout).toContain(
      "shutdown: the last metrics did not arrive: Error: connect ECONNREFUSED",
    );
    expect(stdout).not.toContain("dashboards");
  });

  it("says how many spans could not be delivered, and shows the rest all the same", async () => {
    using folder = new Folder();
    const url = await deadUrl();
    const { code, stdout } = await command(["demo", "--endpoint", url, "--audit", folder.path]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      `${SPANS} spans of ${SPANS} could not be delivered to ${url}/v1/traces.\n`,
    );
    expect(stdout).toContain(
      `${SPANS} spans lost (unreachable ${SPANS}) of ${SPANS} that ended; last error of an export: connect ECONNREFUSED`,
    );
    expect(stdout).toContain(`\nnpx entelix-otel doctor --endpoint ${url}/ says more `);
    expect(stdout).not.toContain("/trace/");
    expect(stdout).toContain("✓ the chain holds");
  });

  it("ends in order when it is interrupted: the log is closed, the exit code the signal's", async () => {
    using folder = new Folder();
    let interrupt: (() => void) | undefined;
    // The first request asks whether metrics are taken.
    const answer = (request: number) => {
      if (request === 0) return 200;
      // A second signal would end the process at once.
      if (request === 1) interrupt?.();
      return "hang";
    };
    await using server = await OtlpServer.start({ answer });
    const args = ["demo", "--endpoint", server.url, "--audit", folder.path];
    const { code, signal, stderr } = await command(args, {
      onStdout: (_, kill) => {
        interrupt = () => kill("SIGINT");
      },
    });
    expect([code, signal, stderr]).toEqual([130, null, "Interrupted.\n"]);
    const verified = await command(["audit", "verify", folder.path]);
    expect(verified.stdout).toMatch(/^✓ intact, closed: \d+ rows?, /);
  });
});

async function waitForFile(path: string): Promise<void> {
  while (!existsSync(path) || readFileSync(path, "utf8") === "") await sleep(50);
}
