import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Document } from "yaml";
import type { AgentEvent, FailureKind } from "../../src/index.ts";
import type { RunEvents } from "../support/run-events.ts";
import { freshRun, happening, recovered } from "./support/events.ts";
import { isLastWord, lastWord, scraped } from "./support/last-word.ts";
import { Player } from "./support/player.ts";
import { replaceTexts } from "./support/shipped-config.ts";
import { Stack } from "./support/stack.ts";
import { until } from "./support/until.ts";

const FACTOR = 60;
const AGENT = "researcher";
const TENANTS = ["globex", "initech", "umbrella"] as const;
const TENANT = TENANTS[0];
const MODEL_DOWN: FailureKind = { type: "model_dispatch" };
const TOOL_DOWN: FailureKind = {
  type: "tool_error_terminal",
  kind: "transient",
  tool_name: "fetch",
};
/** Of the default in deploy/prometheus/rules/budgets.yml. */
const TEN_TIMES_THE_BUDGET = "1000";

type Events = readonly AgentEvent[];

/** When an outage is over, and is muted no more: what it took of the budget of 3 days. */
const AFTER_AN_OUTAGE = "EntelixBudgetBurnsSlowly tickets";

/** What a service of its own does, and what is told of it. */
interface Scenario {
  readonly name: string;
  readonly events: Events;
  /** What its run goes on with, once every half second, until the alert was told: it stays open and is never silent. */
  readonly goesOn?: (step: number) => Events;
  /** What ends its run then. */
  readonly end?: Events;
  /** Its alerts, each with whom it is told to and its tenant. */
  readonly told: readonly string[];
  readonly text: RegExp;
  /** What may be told when it is over. */
  readonly later?: string;
}

function each<T>(count: number, one: (index: number) => readonly T[]): T[] {
  return Array.from({ length: count }, (_, index) => one(index)).flat();
}

function healthy(tenant: string = TENANT): AgentEvent[] {
  const run = freshRun(tenant);
  return [run.started(AGENT), run.toolStart("tu-1"), run.toolComplete("tu-1"), run.complete()];
}

/** It completes, though its last call of the tool failed. */
function degraded(): AgentEvent[] {
  const run = freshRun(TENANT);
  return [run.started(AGENT), run.toolStart("tu-1"), run.toolError("tu-1"), run.complete()];
}

function failed(tenant: string, kind: FailureKind): AgentEvent[] {
  const run = freshRun(tenant);
  const call =
    kind.type === "model_dispatch"
      ? [run.modelStart("m-1"), run.modelError("m-1")]
      : [run.toolStart("tu-1"), run.toolError("tu-1")];
  return [run.started(AGENT), ...call, run.failed({ kind })];
}

/** One call of a tool that ends at once. */
function call(run: RunEvents, step: number, tool: string, input: unknown, output: unknown) {
  const id = `tu-${step}`;
  return [run.toolStart(id, tool, input), run.toolComplete(id, tool, 1, output)];
}

/** A run that goes on with such calls. */
function looping(
  name: string,
  shape: string,
  one: (step: number) => { tool: string; input: unknown; output: unknown },
): Scenario {
  const run = freshRun(TENANT);
  return {
    name,
    events: [run.started(AGENT)],
    goesOn: (step) =>
      each(8, (index) => {
        const { input, output, tool } = one(8 * step + index);
        return call(run, 8 * step + index, tool, input, output);
      }),
    end: [run.complete()],
    told: ["EntelixRunLooping tickets"],
    text: new RegExp(shape),
  };
}

/** A run that says nothing more, for a while. */
function silent(
  name: string,
  alert: string,
  open: (run: RunEvents) => Events,
  close: (run: RunEvents) => Events,
): Scenario {
  const run = freshRun(TENANT);
  return {
    name,
    events: [run.started(AGENT), ...open(run)],
    goesOn: () => [],
    end: [...close(run), run.complete()],
    told: [`${alert} tickets`],
    text: /silent/,
  };
}

/** Its agent and tenant are known at a cost of 0, then it spends. */
function spending(): Scenario {
  const run = freshRun(TENANT);
  return {
    name: "ten times the budget",
    events: [
      run.started(AGENT),
      run.modelStart("m-1"),
      run.modelComplete("m-1", {
        usage: { input_tokens: 1, output_tokens: 1 },
        cost_usd: TEN_TIMES_THE_BUDGET,
      }),
      run.complete(),
    ],
    told: ["EntelixSpendingOverBudget pager globex"],
    text: /has spent 1\d{3}(\.\d+)?% of the hourly budget/,
  };
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: "degraded runs",
    events: [...each(8, degraded), ...each(8, () => recovered(TENANT, AGENT))],
    told: ["EntelixRunsDegraded tickets"],
    text: /27\.59% of the runs of researcher/,
  },
  silent(
    "stalled in a tool",
    "EntelixRunStalledInTool",
    (run) => [run.toolStart("tu-1")],
    (run) => [run.toolComplete("tu-1")],
  ),
  silent(
    "stalled in the model",
    "EntelixRunStalledInModel",
    (run) => [run.modelStart("m-1")],
    (run) => [run.modelComplete("m-1")],
  ),
  looping("one call again and again", "repeat", (step) => ({
    tool: "search",
    input: { q: "weather" },
    output: { page: step },
  })),
  looping("two calls in turns", "ping_pong", (step) => ({
    tool: step % 2 === 0 ? "read" : "write",
    input: { file: step % 2 },
    output: "no such file",
  })),
  looping("a poll without progress", "poll", (step) => ({
    tool: step % 3 === 0 ? "status" : "think",
    input: step % 3 === 0 ? { job: 7 } : { thought: step },
    output: step % 3 === 0 ? "waiting" : step,
  })),
  spending(),
  {
    name: "a model outage",
    events: each(6, () => TENANTS.flatMap((tenant) => failed(tenant, MODEL_DOWN))),
    told: TENANTS.map((tenant) => `EntelixModelDown pager ${tenant}`),
    text: /6 runs of a model outage failed in 5 minutes/,
    later: AFTER_AN_OUTAGE,
  },
  {
    name: "an outage of one tenant",
    events: each(12, () => [
      ...TENANTS.filter((tenant) => tenant !== TENANT).flatMap(healthy),
      ...failed(TENANT, TOOL_DOWN),
    ]),
    told: [`EntelixToolEndsManyRuns pager ${TENANT}`],
    text: /12 runs/,
    later: AFTER_AN_OUTAGE,
  },
];

/** The limits of silence are values, in seconds. */
function shortenSilence(document: Document): void {
  if (!document.toString().includes("entelix_runs_idle_max_seconds")) return;
  replaceTexts(document, "expr", (query) =>
    query.replace(
      /(entelix_runs_idle_max_seconds\{[^}]*\}\) > )(\d+)/g,
      (_, compared: string, limit: string) => compared + Number(limit) / FACTOR,
    ),
  );
}

describe("the shipped deployment, its durations divided by 60", () => {
  let stack: Stack;

  /** What was told of a service so far: the alert, whom it was routed to, and its tenant. */
  function told(job: string): string[] {
    const alerts = stack.webhook.firings().filter(({ labels }) => labels.job === job);
    return alerts
      .map(({ labels, receiver }) =>
        [labels.alertname, receiver, labels.entelix_tenant_id ?? ""].join(" ").trim(),
      )
      .toSorted();
  }

  async function play({ end = [], events, goesOn, name, told: expected }: Scenario): Promise<void> {
    const player = new Player({
      setup: "setupTelemetry",
      options: { serviceName: name, endpoint: stack.endpoint },
    });
    const tell = (more: Events) => player.tell(more.map(happening));
    // Each works for a while first: with a run of each tenant, and a model call without cost.
    tell(TENANTS.flatMap((tenant) => each(4, () => healthy(tenant))));
    const first = freshRun(TENANT);
    tell([
      first.started(AGENT),
      first.modelStart("m-1"),
      first.modelComplete("m-1"),
      first.complete(),
    ]);
    await player.flush();
    await until(`Prometheus knows of ${name}`, async () => {
      const known = await stack.prometheus.query(`entelix_runs_total{job="${name}"}`);
      return known.length > 0 ? true : undefined;
    });
    await sleep(2_000);
    tell(events);
    let step = 0;
    await until(
      `the alert of ${name}`,
      () => {
        if (goesOn !== undefined) tell(goesOn(step++));
        return told(name).length >= expected.length ? true : undefined;
      },
      { timeoutMs: 120_000, everyMs: 500 },
    );
    tell(end);
    expect(await player.end()).toMatchObject({ errors: [] });
  }

  beforeAll(async () => {
    stack = await Stack.start({ factor: FACTOR, editRules: shortenSilence });
    await scraped(stack);
    await Promise.all(SCENARIOS.map(play));
    await lastWord(stack);
  });
  afterAll(() => stack?.stop());

  it.each(SCENARIOS)("tells of $name by its alert, and by no other", ({ later, name, ...one }) => {
    expect(told(name).filter((alert) => alert !== later)).toEqual(one.told);
    const texts = stack.webhook
      .firings()
      .filter(({ labels }) => labels.job === name && !later?.startsWith(`${labels.alertname} `))
      .map(({ annotations }) => `${annotations.summary}\n${annotations.description}`);
    for (const text of texts) expect(text).toMatch(one.text);
  });

  it("tells nobody of anything else", () => {
    const services = SCENARIOS.map(({ name }) => name);
    const others = stack.webhook
      .firings()
      .filter(({ labels }) => !services.includes(String(labels.job)) && !isLastWord(labels));
    // On a busy machine a scrape of the collector may take longer than a 60th of its time.
    const names = others.map(({ labels }) => String(labels.alertname));
    expect(names.filter((name) => !name.startsWith("EntelixCollector"))).toEqual([]);
    expect(stack.webhook.faults).toEqual([]);
  });
});
