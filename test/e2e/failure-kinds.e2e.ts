import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TOOL_ERROR_KINDS } from "../../src/entries/events.ts";
import { fromMilliseconds } from "../../src/events/door.ts";
import type { AgentEvent, FailureKind, ToolErrorKind } from "../../src/index.ts";
import type { RunEvents } from "../support/run-events.ts";
import { freshRun, happening, recovered } from "./support/events.ts";
import { FreshIds, traceId } from "./support/fresh-ids.ts";
import { isLastWord, lastWord, scraped } from "./support/last-word.ts";
import { Player } from "./support/player.ts";
import { renamed, shiftedTo, shippedRecordings } from "./support/recording.ts";
import { replay } from "./support/replay.ts";
import { Stack } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

/** What docs/alerts-failures.md says of one failure. */
interface Expected {
  readonly alert: string;
  readonly severity: "page" | "ticket" | "info";
  readonly receiver: "pager" | "tickets" | "chat";
}

/** A kind of failure. */
interface Case {
  readonly name: string;
  readonly kind: FailureKind;
  /** `undefined`: it is counted, and raises nothing. */
  readonly expected: Expected | undefined;
}

const PAGE = { severity: "page", receiver: "pager" } as const;
const TICKET = { severity: "ticket", receiver: "tickets" } as const;
const INFO = { severity: "info", receiver: "chat" } as const;

const OF_TOOL_ERRORS: Readonly<Record<ToolErrorKind, Expected | undefined>> = {
  auth: { alert: "EntelixToolAuthFailed", ...PAGE },
  quota: { alert: "EntelixToolQuotaExhausted", ...TICKET },
  rate_limit: { alert: "EntelixToolRateLimited", ...TICKET },
  transient: { alert: "EntelixToolUnavailable", ...TICKET },
  permanent: { alert: "EntelixToolRefused", ...TICKET },
  internal: { alert: "EntelixToolBroken", ...TICKET },
  validation: undefined,
};

const OF_OTHERS: Readonly<Record<Exclude<FailureKind["type"], "tool_error_terminal">, Expected>> = {
  usage_limit_exceeded: { alert: "EntelixUsageLimitExceeded", ...TICKET },
  cancelled: { alert: "EntelixRunCancelled", ...INFO },
  deadline_exceeded: { alert: "EntelixDeadlineExceeded", ...TICKET },
  model_dispatch: { alert: "EntelixModelDispatchFailed", ...TICKET },
  internal: { alert: "EntelixRunFailedInternal", ...TICKET },
  unclassified: { alert: "EntelixRunUnclassified", ...TICKET },
};

const CASES: readonly Case[] = [
  ...TOOL_ERROR_KINDS.map((kind) => ({
    name: `tool_error_terminal of ${kind}`,
    kind: { type: "tool_error_terminal", kind, tool_name: "fetch" } as const,
    expected: OF_TOOL_ERRORS[kind],
  })),
  ...(["usage_limit_exceeded", "cancelled", "deadline_exceeded"] as const).map(other),
  ...(["model_dispatch", "internal", "unclassified"] as const).map(other),
];

function other(type: keyof typeof OF_OTHERS): Case {
  return { name: type, kind: { type }, expected: OF_OTHERS[type] };
}

const SOURCES = [
  { source: "events", setup: "setupTelemetry" },
  { source: "spans", setup: "setupTracing" },
] as const;
type Source = (typeof SOURCES)[number];

/** The service of a replay. */
const LAST_WEEK = "last-week";
const FAILED = /"type":"failed"/;

/** Each has a tenant of its own: Alertmanager tells of a tenant's alerts of one name together. */
const tenantOf = ({ source }: Source, { name }: Case) => `${source}: ${name}`;
const agentOf = ({ name }: Case) => `agent with ${name}`;

/** A run that waits for an approval, and the one around it, which waits with it. */
function paused(tenant: string, agent: string): AgentEvent[] {
  const [root, child] = [freshRun(tenant), freshRun(tenant)];
  const kind = { type: "approval_pending", tool_use_id: "tu-2" } as const;
  return [
    root.started(agent),
    root.toolStart("tu-1", "research_team"),
    child.started(agent, root.run_id),
    child.toolStart("tu-2"),
    child.toolInterrupted("tu-2"),
    child.interrupted({ kind }),
    root.toolInterrupted("tu-1"),
    root.interrupted({ kind }),
  ];
}

const DEPTH = 3;
const toolAt = (depth: number) => (depth === DEPTH - 1 ? "fetch" : "research_team");

/** A failure at the bottom of three nested runs, each of which fails by it. */
function failing(tenant: string, one: Case): AgentEvent[] {
  const { kind } = one;
  const runs = Array.from({ length: DEPTH }, () => freshRun(tenant));
  const nested = runs.flatMap((run, depth) => [
    run.started(agentOf(one), runs[depth - 1]?.run_id ?? null),
    run.toolStart(`tu-${depth}`, toolAt(depth)),
  ]);
  const ends = runs
    .map((run, depth) => [
      toolEnd(run, one, depth),
      run.failed({ kind, error: `it was ${kind.type}` }),
    ])
    .toReversed();
  return [...nested, ...ends.flat()];
}

/** How a call of the failing run, or of one around it, ends. */
function toolEnd(run: RunEvents, { kind }: Case, depth: number): AgentEvent {
  const id = `tu-${depth}`;
  const tool = toolAt(depth);
  if (kind.type === "tool_error_terminal") return run.toolError(id, { tool, kind: kind.kind });
  // The run itself failed, not its call; around it the call of the sub-agent did.
  return depth === DEPTH - 1
    ? run.toolComplete(id, tool)
    : run.toolError(id, { tool, kind: "internal" });
}

const lines = (events: readonly AgentEvent[]) => events.map(happening);

describe("the shipped deployment, its durations divided by 60", () => {
  let stack: Stack;
  const service = (source: Source, what: string) => `${what}-by-${source.source}`;

  /** Plays to the end of a process, which had nothing to report. */
  async function play(source: Source, what: string, ...portions: (readonly AgentEvent[])[]) {
    const player = new Player({
      setup: source.setup,
      options: { serviceName: service(source, what), endpoint: stack.endpoint },
    });
    for (const events of portions) {
      player.tell(lines(events));
      await player.flush();
    }
    expect(await player.end()).toMatchObject({ errors: [] });
  }

  /** What of these services was delivered: whom it was routed to, and the alert's name. */
  function told(job: string, tenant?: string) {
    return stack.webhook.alerts.filter(
      ({ labels, status }) =>
        status === "firing" &&
        labels.job === job &&
        (tenant === undefined || labels.entelix_tenant_id === tenant),
    );
  }

  beforeAll(async () => {
    stack = await Stack.start();
    await scraped(stack);
    await Promise.all(
      SOURCES.map(async (source) => {
        const many = Array.from({ length: 12 }, () => undefined);
        await play(
          source,
          "paused",
          many.flatMap(() => paused("acme", "a")),
        );
        await play(
          source,
          "healthy",
          many.flatMap(() => recovered("acme", "a")),
        );
        // Each tenant works for a while, then fails for the first time.
        await play(
          source,
          "failing",
          CASES.flatMap((one) => [
            ...recovered(tenantOf(source, one), agentOf(one)),
            ...paused(tenantOf(source, one), agentOf(one)),
          ]),
          CASES.flatMap((one) => failing(tenantOf(source, one), one)),
        );
      }),
    );
    await replayed();
    await lastWord(stack);
    // Once is once: also when the alerts have ended.
    await untilHolds("the alerts have ended", async () => {
      expect(await stack.prometheus.query('ALERTS{job=~"failing-by-.*"}')).toEqual([]);
    });
    await lastWord(stack);
  });
  afterAll(() => stack?.stop());

  /** The traces of last week's failures. */
  let lastWeek: string[] = [];

  /** Sends what was recorded to the port of replays, as of last week. */
  async function replayed(): Promise<void> {
    const recorded = shippedRecordings();
    const { rename } = new FreshIds(recorded);
    const begin = fromMilliseconds(Date.now() - 7 * 86_400_000);
    const old = recorded.map((one) => shiftedTo(begin, renamed(rename, one)));
    const failed = old.flatMap((one) => one.lines).filter(({ text }) => FAILED.test(text));
    lastWeek = failed.map(({ text }) => traceId(/"run_id":"([^"]+)"/.exec(text)?.[1] ?? ""));
    expect(await replay(old, stack, LAST_WEEK)).toMatchObject({
      failures: 0,
      sent: { delivered: 28, undelivered: 0 },
    });
  }

  describe.each(SOURCES)("a service that is counted by its $source", (source) => {
    it.each(CASES)("raises for a first $name its alert, once, and no other", async (one) => {
      const job = service(source, "failing");
      const { expected, kind } = one;
      const tenant = tenantOf(source, one);
      const delivered = told(job, tenant);
      const ofTool =
        kind.type === "tool_error_terminal"
          ? { entelix_tool_error_kind: kind.kind, gen_ai_tool_name: kind.tool_name }
          : {
              gen_ai_agent_name: agentOf(one),
              // Spans are counted without.
              ...(source.source === "events" && {
                entelix_failure_origin: kind.type === "model_dispatch" ? "model" : "run",
              }),
            };
      const its = {
        receiver: expected?.receiver,
        labels: {
          alertname: expected?.alert,
          severity: expected?.severity,
          job,
          source: source.source,
          entelix_tenant_id: tenant,
          entelix_failure_kind: kind.type,
          ...ofTool,
        },
      };
      // Muted where a page or a ticket of the same kind says more.
      const isNew = {
        receiver: "chat",
        labels: {
          alertname: "EntelixFailureKindNew",
          severity: "info",
          job,
          entelix_tenant_id: tenant,
          entelix_failure_kind: kind.type,
        },
      };
      const wanted = expected === undefined ? [] : kind.type === "cancelled" ? [isNew, its] : [its];
      expect(
        delivered
          .map(({ labels, receiver }) => ({ receiver, labels }))
          .sort((a, b) => (String(a.labels.alertname) < String(b.labels.alertname) ? -1 : 1)),
      ).toEqual(wanted);
      for (const { annotations, labels } of delivered) {
        if (labels.alertname === expected?.alert) {
          expect(annotations.description).toMatch(/^1 run\(s\) of /);
        }
      }

      const fired = await stack.prometheus.query(
        `last_over_time(ALERTS{alertstate="firing", job="${job}", entelix_tenant_id="${tenant}"}[1h])`,
      );
      expect(fired.map(({ labels }) => labels.alertname).sort()).toEqual(
        expected === undefined ? [] : ["EntelixFailureKindNew", expected.alert].sort(),
      );
    });

    it("counts each failure once, though three runs failed by it", async () => {
      const job = service(source, "failing");
      const most = await stack.prometheus.query(
        `max_over_time(entelix:failed_runs:increase5m{job="${job}", source="${source.source}"}[1h])`,
      );
      const byTenant = most
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [labels.entelix_tenant_id, labels.entelix_failure_kind, value]);
      expect(byTenant.sort()).toEqual(
        CASES.map((one) => [tenantOf(source, one), one.kind.type, 1]).sort(),
      );
    });

    it.each(["paused", "healthy"] as const)("raises nothing for runs that are %s", async (what) => {
      const job = service(source, what);
      const outcome = what === "paused" ? "interrupted" : "complete";
      const runs =
        source.source === "events"
          ? `sum(entelix_runs_total{job="${job}", entelix_run_outcome="${outcome}", entelix_root="true"})`
          : `sum(entelix_spans_calls_total{job="${job}", entelix_run_outcome="${outcome}", entelix_root="true"})`;
      expect(await stack.prometheus.value(runs)).toBe(12);
      expect(told(job)).toEqual([]);
      expect(await stack.prometheus.query(`last_over_time(ALERTS{job="${job}"}[1h])`)).toEqual([]);
    });
  });

  it("raises nothing for a replay of last week's failures, which are in Jaeger", async () => {
    expect(lastWeek).toHaveLength(3);
    for (const id of lastWeek) {
      const outcomes = (await stack.jaeger.trace(id)).map(
        ({ attributes }) => attributes["entelix.run.outcome"],
      );
      expect(outcomes).toContain("failed");
    }
    expect(await stack.prometheus.series(`{job="${LAST_WEEK}"}`)).toEqual([]);
    expect(told(LAST_WEEK)).toEqual([]);
  });

  it("told nobody of anything else", () => {
    const services = SOURCES.map((source) => service(source, "failing"));
    const others = stack.webhook.alerts.filter(
      ({ labels }) => !services.includes(String(labels.job)) && !isLastWord(labels),
    );
    expect(
      others.filter(({ labels }) => !labels.alertname?.startsWith("EntelixCollector")),
    ).toEqual([]);
    expect(stack.webhook.faults).toEqual([]);
  });
});
