import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { RAW_CONTROL } from "../../cli/support/recorded.ts";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";

const TITLES = [
  ["Three tool calls", "recorded"],
  ["A tool fails, the run goes on", "recorded"],
  ["A tool fails for good", "recorded"],
  ["The model is down", "recorded"],
  ["A sub-agent", "recorded"],
  ["One call approved, one denied", "recorded"],
  ["Waits for an approval", "recorded"],
  ["Approved: goes on as a new run", "constructed"],
  ["Cancelled", "recorded"],
  ["Two tenants at once", "recorded"],
] as const;

describe.concurrent("demo", () => {
  it("plays every recording, draws its traces, and says that nothing was sent", async () => {
    using folder = new Folder();
    const { code, stdout, stderr } = await command(["demo"], { env: { TMPDIR: folder.path } });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(RAW_CONTROL);
    const [heading, ...sections] = stdout.split("\n\n");
    expect(heading).toBe("Playing 9 recordings of real agents, and 1 that is constructed:");
    expect(sections.slice(0, TITLES.length).map((text) => text.split("\ntrace ")[0])).toEqual(
      TITLES.map(([title, origin]) => `${title} (${origin})`),
    );
    expect(sections.find((text) => text.startsWith("A sub-agent"))).toMatch(
      /invoke_agent coordinator.*✓ complete\n├─ execute_tool research_team.*\n│ {2}└─ invoke_agent react.*\n│ {5}└─ execute_tool search.*\n└─ execute_tool double/,
    );
    const paused =
      /trace ([0-9a-f]{32}) {2}tenant acme\ninvoke_agent supervised .*paused: approval_pending/;
    const runId = paused.exec(stdout)?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    expect(stdout).toContain(`✓ complete, resumes run ${runId}\n`);
    expect(stdout).toContain(
      [
        "Failed runs by tenant",
        "tenant  tool_error_terminal  cancelled  model_dispatch  failed runs",
        "acme                      1          1               0            2",
        "globex                    0          0               1            1",
      ].join("\n"),
    );
    const [directory = ""] = readdirSync(folder.path);
    expect(directory).toMatch(/^entelix-otel-demo-/);
    expect(stdout).toContain(
      `Audit log\n${folder.at(directory)}: 62 rows in 10 threads. ✓ the chain holds\n` +
        // As it can be run where the package is a dependency, and in a clone.
        `  npx entelix-otel audit show ${folder.at(directory)}\n` +
        `  npx entelix-otel audit verify ${folder.at(directory)}\n`,
    );
    expect(stdout).toContain(
      "28 spans (12 runs, 16 tool calls). Nothing was sent: no endpoint is configured.",
    );
    expect(stdout).toMatch(/To see these runs in the browser\n {2}npx entelix-otel view \S+\n$/);
    expect(stdout.endsWith(` ${folder.at(directory)}\n`)).toBe(true);
    const verified = await command(["audit", "verify", folder.at(directory)]);
    expect(verified.code).toBe(0);
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
      `28 spans (12 runs, 16 tool calls) delivered to ${server.url}/v1/traces, metrics to ${server.url}/v1/metrics.\n`,
    );
    expect(second.stdout).toContain(
      ": 124 rows in 10 threads, including earlier rows. ✓ the chain holds\n",
    );
    expect(server.spans).toHaveLength(56);
    const runs = server.spans.filter((span) => span.name.startsWith("invoke_agent"));
    const roots = runs.filter((span) => span.attributes["entelix.parent_run_id"] === undefined);
    expect(new Set(roots.map((span) => span.traceId)).size).toBe(22);
    for (const root of roots) {
      expect(root.traceId).toBe(String(root.attributes["entelix.run_id"]).replaceAll("-", ""));
      expect(`${first.stdout}${second.stdout}`).toContain(
        `  http://jaeger.example/trace/${root.traceId}\n`,
      );
      const at = Number(BigInt(root.startTimeUnixNano) / 1_000_000n);
      expect(at).toBeGreaterThanOrEqual(begun - 1);
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
      "acme complete": 7,
      "acme interrupted": 1,
      "acme tool_error_terminal": 1,
      "acme cancelled": 1,
      "globex complete": 1,
      "globex model_dispatch": 1,
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
    expect(stdout).toContain(
      `28 spans (12 runs, 16 tool calls). Nothing was sent: ${name}=${value}.`,
    );
  });

  it("sends spans alone with OTEL_METRICS_EXPORTER=none, and leads nobody to empty pages", async () => {
    using folder = new Folder();
    await using server = await OtlpServer.start();
    const args = ["demo", "--endpoint", server.url, "--audit", folder.path];
    const { code, stdout } = await command(args, { env: { OTEL_METRICS_EXPORTER: "none" } });
    expect([code, server.spans.length]).toEqual([0, 28]);
    expect(server.requests.filter(({ path }) => path !== "/v1/traces")).toEqual([]);
    expect(stdout).toMatch(
      / delivered to http:\S+\/v1\/traces\.\n(?: {2}.+\/trace\/[0-9a-f]{32}\n){11}\nTo see these runs /,
    );
  });

  it("sends spans alone to a receiver that knows no metrics, as Jaeger, and says so", async () => {
    using folder = new Folder();
    await using jaeger = await OtlpServer.start({
      answer: (request) => (request === 0 ? 404 : 200),
    });
    const args = ["demo", "--endpoint", jaeger.url, "--audit", folder.path];
    const { code, stdout } = await command(args);
    expect([code, jaeger.spans.length]).toEqual([0, 28]);
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
    expect(traces.spans).toHaveLength(28);
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
    expect(stdout).toContain(`28 spans of 28 could not be delivered to ${url}/v1/traces.\n`);
    expect(stdout).toContain(
      "28 spans lost (unreachable 28) of 28 that ended; last error of an export: connect ECONNREFUSED",
    );
    expect(stdout).toContain(`\nnpx entelix-otel doctor --endpoint ${url}/ says more `);
    expect(stdout).not.toContain("/trace/");
    expect(stdout).toContain("✓ the chain holds");
  });

  it("ends in order when it is interrupted: the log is closed, the exit code the signal's", async () => {
    using folder = new Folder();
    let sent = false;
    const { code, signal, stderr } = await command(["demo", "--audit", folder.path], {
      onStdout: (text, kill) => {
        if (sent || !text.includes("✓ complete")) return;
        sent = true;
        kill("SIGINT");
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
