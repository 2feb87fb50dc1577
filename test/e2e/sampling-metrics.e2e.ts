import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/index.ts";
import type { RunEvents } from "../support/run-events.ts";
import { collectorCounter, SENT_TO_JAEGER } from "./support/collector-counter.ts";
import { freshRun, happening } from "./support/events.ts";
import { type Played, Player } from "./support/player.ts";
import { countedSpans } from "./support/span-metric-count.ts";
import { Stack } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

const SERVICE = "sampled-agent";
const RATIO = 0.01;
/** Of each process. With so many traces, one in 100,000 times none at all is kept. */
const STORIES = 600;

/** What an agent does, over and over: one of each kind in turn. */
const KINDS: readonly ((run: RunEvents, nested: RunEvents) => AgentEvent[])[] = [
  (run) => [
    run.started("planner"),
    ...calls(run, "search", "fetch"),
    run.complete({
      usage: {
        requests: 2,
        input_tokens: 1_000,
        output_tokens: 100,
        tool_calls: 2,
        cost_usd: "0.25",
      },
    }),
  ],
  (run, nested) => [
    run.started("planner"),
    run.toolStart("tu-1", "research_team"),
    nested.started("researcher", run.run_id),
    nested.failed(),
    run.toolError("tu-1", { tool: "research_team", kind: "internal" }),
    run.failed(),
  ],
  (run) => [
    run.started("buyer"),
    run.toolStart("tu-1"),
    run.toolInterrupted("tu-1"),
    run.interrupted(),
  ],
  (run) => [
    run.started("buyer"),
    run.toolStart("tu-1"),
    run.toolError("tu-1", { kind: "rate_limit" }),
    run.failed({ kind: { type: "tool_error_terminal", kind: "rate_limit", tool_name: "fetch" } }),
  ],
  (run, nested) => [
    run.started("planner"),
    run.toolStart("tu-1"),
    run.toolError("tu-1"),
    run.toolStart("tu-2", "research_team"),
    nested.started("researcher", run.run_id),
    nested.complete(),
    run.toolComplete("tu-2", "research_team"),
    run.complete(),
  ],
  (run) => [run.started("buyer"), run.failed({ kind: { type: "deadline_exceeded" } })],
];

function calls(run: RunEvents, ...tools: readonly string[]): AgentEvent[] {
  return tools.flatMap((tool, at) => [
    run.toolStart(`tu-${at}`, tool),
    run.toolComplete(`tu-${at}`, tool),
  ]);
}

/** The events of one process. */
function stories(tenants: readonly string[]): AgentEvent[] {
  return Array.from({ length: STORIES }, (_, at) => {
    const tenant = tenants[at % tenants.length];
    return KINDS[at % KINDS.length]?.(freshRun(tenant), freshRun(tenant)) ?? [];
  }).flat();
}

/** Counts by the values of some labels, joined. */
type Counts = Record<string, number>;

/** How often each event was sent, told apart as the metrics tell them apart. */
function countsOf(events: readonly AgentEvent[]) {
  const runs: Counts = {};
  const toolErrors: Counts = {};
  const endedByTool: Counts = {};
  const durations: Counts = {};
  const calls: Counts = {};
  const callsOfRuns: Counts = {};
  const tokens: Counts = {};
  const cost: Counts = {};
  const started = new Map<string, { agent: string; root: boolean }>();
  const add = (counts: Counts, values: readonly unknown[], by = 1) => {
    const key = values.join(" ");
    counts[key] = (counts[key] ?? 0) + by;
  };
  for (const event of events) {
    const { run_id, tenant_id } = event;
    if (event.type === "started") {
      started.set(run_id, { agent: event.agent, root: event.parent_run_id === null });
    }
    const { agent = "", root = false } = started.get(run_id) ?? {};
    const ended = (outcome: string, kind = "") => {
      add(runs, [outcome, kind, agent, tenant_id, root]);
      add(durations, [agent, kind]);
    };
    switch (event.type) {
      case "started":
        break;
      case "tool_start":
        add(callsOfRuns, [agent]);
        break;
      case "tool_complete":
        add(calls, [event.tool, ""]);
        break;
      case "tool_error": {
        const paused = event.envelope.wire_code === "interrupted";
        add(calls, [event.tool, paused ? "" : event.kind]);
        if (!paused) add(toolErrors, [event.tool, event.kind, agent, tenant_id]);
        break;
      }
      case "complete":
        ended("complete");
        if (!root || !event.usage) break;
        add(tokens, ["input", agent, tenant_id], Number(event.usage.input_tokens));
        add(tokens, ["output", agent, tenant_id], Number(event.usage.output_tokens));
        add(cost, [agent, tenant_id], Number(event.usage.cost_usd));
        break;
      case "failed": {
        const { kind } = event;
        ended("failed", kind?.type);
        if (root && kind?.type === "tool_error_terminal") {
          add(endedByTool, [kind.tool_name, kind.kind, agent, tenant_id]);
        }
        break;
      }
      case "interrupted":
        ended("interrupted");
        break;
      default:
        throw new Error(`${event.type}: not in these stories`);
    }
  }
  return { runs, toolErrors, endedByTool, durations, calls, callsOfRuns, tokens, cost };
}

describe("two processes at 1% head sampling", () => {
  const told = [stories(["acme", "globex"]), stories(["acme", "initech", "umbrella"])];
  const all = told.flat();
  let stack: Stack;
  let played: Played[];

  /** What Prometheus has of a metric, over both processes, without what is 0. */
  async function counted(metric: string, ...labels: readonly string[]): Promise<Counts> {
    const found = await stack.prometheus.query(
      `sum by (${labels.join(", ")}) (${metric}{job="${SERVICE}"}) != 0`,
    );
    return Object.fromEntries(
      found.map(({ labels: has, value }) => [
        labels.map((label) => has[label] ?? "").join(" "),
        value,
      ]),
    );
  }

  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector", "prometheus"] });
    const players = told.map(
      () =>
        new Player({
          setup: "setupTelemetry",
          options: { serviceName: SERVICE, endpoint: stack.endpoint },
          env: {
            OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
            OTEL_TRACES_SAMPLER_ARG: String(RATIO),
          },
        }),
    );
    for (const [at, player] of players.entries()) player.tell((told[at] ?? []).map(happening));
    played = await Promise.all(players.map((player) => player.end()));
    await untilHolds("Prometheus has all events", async () => {
      const events = await stack.prometheus.query(
        `sum by (instance) (entelix_bridge_events_total{job="${SERVICE}"})`,
      );
      expect(events.map(({ value }) => value).sort()).toEqual(
        told.map(({ length }) => length).sort(),
      );
    });
  });
  afterAll(() => stack?.stop());

  it("send few of their spans, and all of those arrive", async () => {
    const spans = all.filter(({ type }) => type === "started" || type === "tool_start").length;
    const sent = played.reduce((sum, one) => sum + Number(one.spans.exported), 0);
    expect(
      played.map(({ errors, spans: { ended, exported } }) => [errors, ended === exported]),
    ).toEqual([
      [[], true],
      [[], true],
    ]);
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(spans * RATIO * 5);
    await untilHolds("what was sent is in Jaeger", async () => {
      expect(await collectorCounter(stack, SENT_TO_JAEGER)).toBe(sent);
    });
    // So nothing that is counted from spans could be complete.
    await untilHolds("and counted from spans", async () =>
      expect(await countedSpans(stack, { job: SERVICE })).toBe(sent),
    );
  });

  it.each([
    [
      "runs",
      "entelix_runs_total",
      [
        "entelix_run_outcome",
        "entelix_failure_kind",
        "gen_ai_agent_name",
        "entelix_tenant_id",
        "entelix_root",
      ],
    ],
    [
      "toolErrors",
      "entelix_tool_failures_total",
      ["gen_ai_tool_name", "entelix_tool_error_kind", "gen_ai_agent_name", "entelix_tenant_id"],
    ],
    [
      "endedByTool",
      "entelix_tool_terminal_failures_total",
      ["gen_ai_tool_name", "entelix_tool_error_kind", "gen_ai_agent_name", "entelix_tenant_id"],
    ],
    [
      "durations",
      "gen_ai_invoke_agent_duration_seconds_count",
      ["gen_ai_agent_name", "error_type"],
    ],
    ["calls", "gen_ai_execute_tool_duration_seconds_count", ["gen_ai_tool_name", "error_type"]],
    ["callsOfRuns", "gen_ai_invoke_agent_tool_calls_sum", ["gen_ai_agent_name"]],
    [
      "tokens",
      "entelix_tokens_total",
      ["gen_ai_token_type", "gen_ai_agent_name", "entelix_tenant_id"],
    ],
    ["cost", "entelix_cost_total", ["gen_ai_agent_name", "entelix_tenant_id"]],
  ] as const)("have exactly their %s in %s", async (what, metric, labels) => {
    const expected = countsOf(all)[what];
    expect(Object.keys(expected).length).toBeGreaterThan(0);
    expect(await counted(metric, ...labels)).toEqual(expected);
  });

  it("have lost, passed over and folded together nothing", async () => {
    for (const metric of [
      "entelix_bridge_spans_dropped_total",
      "entelix_bridge_ignored_total",
      "entelix_bridge_label_overflow_total",
      "entelix_audit_append_failures_total",
      "entelix_runs_active",
    ]) {
      expect(await counted(metric, "job")).toEqual({});
    }
    expect(await stack.prometheus.query('{otel_metric_overflow="true"}')).toEqual([]);
  });
});
