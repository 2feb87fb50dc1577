import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshRun, happening } from "./support/events.ts";
import { Player } from "./support/player.ts";
import { Stack } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

describe("the shipped deployment, its durations divided by 60", () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await Stack.start();
  });
  afterAll(() => stack?.stop());

  it("has Prometheus scrape every target", async () => {
    await untilHolds("all targets are up", async () => {
      const targets = await stack.prometheus.targets();
      expect(targets.map(({ job, health }) => [job, health]).sort()).toEqual([
        ["entelix", "up"],
        ["otelcol-self", "up"],
      ]);
    });
  });

  it("has every rule evaluated without an error", async () => {
    await untilHolds("all rules are healthy", async () => {
      const rules = await stack.prometheus.rules();
      expect(rules.length).toBeGreaterThan(0);
      expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
    });
  });

  it.each([
    { setup: "setupTelemetry", source: "events" },
    { setup: "setupTracing", source: "spans" },
  ] as const)("brings a failure that $source tell of to the one who is paged", async (agent) => {
    await untilHolds("scraped", async () => {
      expect(await stack.prometheus.value('up{job="entelix"}')).toBe(1);
    });
    const service = `agent-of-${agent.source}`;
    const player = new Player({
      setup: agent.setup,
      options: { serviceName: service, endpoint: stack.endpoint },
    });
    const run = freshRun("acme");
    const terminal = { type: "tool_error_terminal", kind: "auth", tool_name: "fetch" } as const;
    player.tell(
      [
        run.started("react"),
        run.toolStart("tu-1"),
        run.toolError("tu-1", { kind: "auth", error: "401" }),
        run.failed({ kind: terminal, error: "401" }),
      ].map(happening),
    );
    expect((await player.end()).errors).toEqual([]);

    const pages = () =>
      stack.webhook
        .firings()
        .filter(({ labels }) => labels.job === service && labels.severity === "page");
    await untilHolds("delivered", () => {
      expect(pages()).toMatchObject([
        {
          receiver: "acme-pager",
          labels: {
            alertname: "EntelixToolAuthFailed",
            entelix_failure_kind: "tool_error_terminal",
            entelix_tool_error_kind: "auth",
            entelix_tenant_id: "acme",
            gen_ai_tool_name: "fetch",
            source: agent.source,
          },
        },
      ]);
    });
    expect(stack.webhook.faults).toEqual([]);
  });
});
