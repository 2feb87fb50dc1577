import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deadUrl, OtlpServer } from "../support/otlp-server.ts";
import { command } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { RAW_CONTROL } from "./support/recorded.ts";

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
    const [live = "", ...traces] = stdout.split("\n\n");
    for (const [title, origin] of TITLES) {
      expect(live).toMatch(new RegExp(`\\n[✓✗•] ${title} +${origin} +\\d`));
      expect(stdout).toContain(`\n${title} (${origin})\ntrace `);
    }
    expect(traces.find((text) => text.startsWith("A sub-agent"))).toMatch(
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
      `Audit log\n${folder.at(directory)}: 30 rows in 8 threads. ✓ the chain holds\n`,
    );
    expect(stdout).toContain(
      "28 spans (12 runs, 16 tool calls). Nothing was sent: no endpoint is configured.",
    );
    const verified = await command(["audit", "verify", folder.at(directory)]);
    expect(verified.code).toBe(0);
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
      `28 spans (12 runs, 16 tool calls) delivered to ${server.url}/v1/traces.\n`,
    );
    expect(second.stdout).toContain(
      ": 60 rows in 8 threads, those of before among them. ✓ the chain holds\n",
    );
    expect(server.spans).toHaveLength(56);
    const runs = server.spans.filter((span) => span.name.startsWith("invoke_agent"));
    const roots = runs.filter((span) => span.attributes["entelix.parent_run_id"] === undefined);
    expect(new Set(roots.map((span) => span.traceId)).size).toBe(22);
    for (const root of roots) {
      expect(root.traceId).toBe(String(root.attributes["entelix.run_id"]).replaceAll("-", ""));
      expect(`${first.stdout}${second.stdout}`).toContain(
        `\nhttp://jaeger.example/trace/${root.traceId}\n`,
      );
      const at = Number(BigInt(root.startTimeUnixNano) / 1_000_000n);
      expect(at).toBeGreaterThanOrEqual(begun - 1);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
    expect(runs[0]?.resource["service.name"]).toBe("entelix-demo");
  });

  it("says how many spans could not be delivered, and shows the rest all the same", async () => {
    using folder = new Folder();
    const url = await deadUrl();
    const { code, stdout } = await command(["demo", "--endpoint", url, "--audit", folder.path]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      `28 spans of 28 could not be delivered to ${url}/v1/traces: connect ECONNREFUSED`,
    );
    expect(stdout).not.toContain("/trace/");
    expect(stdout).toContain("✓ the chain holds");
  });

  it("ends in order when it is interrupted: the log is whole, the exit code the signal's", async () => {
    using folder = new Folder();
    let sent = false;
    const { code, signal, stderr } = await command(["demo", "--audit", folder.path], {
      onStdout: (text, kill) => {
        if (sent || !text.includes("\n✓")) return;
        sent = true;
        kill("SIGINT");
      },
    });
    expect([code, signal, stderr]).toEqual([130, null, "Interrupted.\n"]);
    const verified = await command(["audit", "verify", folder.path]);
    expect(verified.stdout).toMatch(/^✓ whole: \d+ rows?, /);
  });
});
