import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLastWord, lastWord, scraped } from "./support/last-word.ts";
import { Stack, shipped } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

const SERVICE = "entelix-demo";
/** A 60th of what it is for an application, like every duration of the rules. */
const METRIC_INTERVAL_MS = 15_000 / 60;

/** The built command, with no `OTEL_*` variables but those given. */
async function command(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_"));
  return promisify(execFile)(process.execPath, [shipped("dist/cli/main.mjs"), ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
  });
}

describe("demo --endpoint, with the shipped stack behind it", () => {
  let stack: Stack;
  let printed: string;

  beforeAll(async () => {
    stack = await Stack.start();
    await scraped(stack);
    const args = ["--endpoint", stack.endpoint, "--jaeger", stack.url("jaegerQuery")];
    const { stdout, stderr } = await command(
      ["demo", ...args, "--audit", join(stack.folder, "demo-audit")],
      { OTEL_METRIC_EXPORT_INTERVAL: String(METRIC_INTERVAL_MS) },
    );
    expect(stderr).toBe("");
    printed = stdout;
  });
  afterAll(() => stack?.stop());

  it("says where everything can be looked at", () => {
    expect(printed).toContain(
      `239 spans (27 runs, 41 tool calls) delivered to ${stack.endpoint}/v1/traces, metrics to ${stack.endpoint}/v1/metrics.\n`,
    );
    expect(printed).toMatch(/\n {2}dashboards {2}http\S+\n {2}metrics {5}http\S+\n {2}alerts {6}/);
  });

  it("has every trace in Jaeger at the address that it prints", async () => {
    const addresses = [...printed.matchAll(/^ {2}.* {2}(http:\S+)\/trace\/([0-9a-f]{32})$/gm)];
    const traces = addresses.map(([, , id = ""]) => id);
    expect(traces).toHaveLength(25);
    expect(new Set(addresses.map(([, base]) => base))).toEqual(new Set([stack.url("jaegerQuery")]));
    await untilHolds("all are in Jaeger, whole", async () => {
      const found = await Promise.all(traces.map((id) => stack.jaeger.trace(id)));
      const roots = found.flat().filter(({ parentSpanId }) => parentSpanId === undefined);
      expect(found.flat()).toHaveLength(239);
      expect(
        roots.map(({ attributes }) => String(attributes["entelix.run_id"]).replaceAll("-", "")),
      ).toEqual(traces);
    });
  });

  it("has its failed runs in Prometheus, by kind and tenant", async () => {
    const failed = `entelix_runs_total{job="${SERVICE}", entelix_run_outcome="failed", entelix_root="true"} > 0`;
    await untilHolds("the failed runs are counted", async () => {
      const counted = await stack.prometheus.query(failed);
      expect(
        counted
          .map(({ labels, value }) => [
            labels.entelix_tenant_id,
            labels.entelix_failure_kind,
            value,
          ])
          .sort(),
      ).toEqual([
        ["acme", "cancelled", 1],
        ["acme", "tool_error_terminal", 1],
        ["globex", "model_dispatch", 1],
        ["globex", "usage_limit_exceeded", 1],
        ["initech", "tool_error_terminal", 1],
      ]);
    });
  });

  it("raises the alert of each kind that it shows, once, and no other", async () => {
    await lastWord(stack);
    const told = stack.webhook.alerts
      .filter(({ labels, status }) => !isLastWord(labels) && status === "firing")
      .filter(({ labels }) => labels.alertname?.startsWith("EntelixCollector") === false);
    const isNew = told.filter(({ labels }) => labels.alertname === "EntelixFailureKindNew");
    expect(
      told
        .filter((alert) => !isNew.includes(alert))
        .map(({ receiver, labels }) => [
          receiver,
          labels.alertname,
          labels.job,
          labels.entelix_tenant_id,
          labels.entelix_failure_kind,
          labels.source,
        ])
        .sort(),
    ).toEqual([
      ["acme-chat", "EntelixRunCancelled", SERVICE, "acme", "cancelled", "events"],
      ["acme-pager", "EntelixToolAuthFailed", SERVICE, "acme", "tool_error_terminal", "events"],
      ["pager", "EntelixToolAuthFailed", SERVICE, "initech", "tool_error_terminal", "events"],
      ["tickets", "EntelixModelDispatchFailed", SERVICE, "globex", "model_dispatch", "events"],
      ["tickets", "EntelixRunLooping", SERVICE, undefined, undefined, undefined],
      ["tickets", "EntelixUsageLimitExceeded", SERVICE, "globex", "usage_limit_exceeded", "events"],
    ]);
    // Where no page or ticket says more; and it waits behind what was new for that tenant just before.
    for (const { labels } of isNew) expect(labels.entelix_failure_kind).toBe("cancelled");
    expect(isNew.length).toBeLessThanOrEqual(1);
    expect(stack.webhook.faults).toEqual([]);
  });

  it("has a doctor who knows both receivers from one another", async () => {
    const { stdout } = await command([
      "doctor",
      ...["--endpoint", stack.endpoint],
      ...["--replay-endpoint", stack.replayEndpoint],
    ]);
    expect(stdout).toContain(`✓ endpoint ${stack.endpoint}/v1/traces takes spans\n`);
    expect(stdout).toContain(`✓ endpoint ${stack.endpoint}/v1/metrics takes metrics\n`);
    expect(stdout).toContain(`✓ replay endpoint ${stack.replayEndpoint}/v1/traces takes spans\n`);
    const mistaken = command(["doctor", "--endpoint", stack.replayEndpoint]);
    await expect(mistaken).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`✗ endpoint ${stack.replayEndpoint}/v1/metrics: HTTP 404 `),
    });
  });
});
