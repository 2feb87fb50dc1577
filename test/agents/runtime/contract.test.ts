import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { RunOptions } from "../../../src/agents/runtime/run-options.ts";
import type { SpanActivator, SpanTarget } from "../../../src/entries/context.ts";
import type { AgentEventType } from "../../../src/entries/events.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  Bridge,
  type EventEnvelope,
} from "../../../src/index.ts";
import { runs } from "../../support/runs.ts";
import { collectSpans } from "../../support/spans.ts";
import { play, program, type Standing } from "./programs.ts";
import { forever } from "./said.ts";

type Trouble = "throws" | "rejects" | "hangs" | "late";

interface Handed {
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope | undefined;
}

/** A bridge behind a sink that does, at events of some types, what a sink may do. */
class TroubledSink implements AgentEventSink, SpanActivator {
  readonly handed: Handed[] = [];
  readonly #bridge: Bridge;
  readonly #trouble: Partial<Record<AgentEventType, Trouble>>;

  constructor(bridge: Bridge, trouble: Partial<Record<AgentEventType, Trouble>>) {
    this.#bridge = bridge;
    this.#trouble = trouble;
  }

  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    this.handed.push({ event, envelope });
    switch (this.#trouble[event.type]) {
      case "throws":
        throw new Error("sink");
      case "rejects":
        return Promise.reject(new Error("sink"));
      case "hangs":
        return forever();
      case "late":
        return new Promise((resolve) => setImmediate(resolve)).then(() =>
          this.#take(event, envelope),
        );
      case undefined:
        return this.#take(event, envelope);
    }
  }

  #take(event: AgentEvent, envelope: EventEnvelope | undefined): void {
    void this.#bridge.send(event, envelope);
  }

  withSpan<T>(place: SpanTarget, work: () => T): T {
    return this.#bridge.withSpan(place, work);
  }
}

const TERMINAL: ReadonlySet<AgentEventType> = new Set(["complete", "failed", "interrupted"]);

const types = [
  ...(["started", "tool_start", "tool_complete", "tool_error"] as const),
  ...(["model_start", "model_complete", "model_error"] as const),
  ...(["complete", "failed", "interrupted"] as const),
];
const trouble = fc.dictionary(
  fc.constantFrom<AgentEventType>(...types),
  fc.constantFrom<Trouble>("throws", "rejects", "hangs", "late"),
  { maxKeys: 2 },
);
const calm = fc.constant<Partial<Record<AgentEventType, Trouble>>>({});

const policies: fc.Arbitrary<Partial<RunOptions<undefined>>> = fc.constantFrom(
  {},
  { terminalToolErrors: ["auth", "internal"] as const },
  { budget: { toolCalls: 2, requests: 1 } },
  { budget: { totalTokens: 3, costUsd: "0.02" } },
  { approve: () => "approved" as const },
  { approve: async () => ({ denied: "no" }) },
  { approve: () => "external" as const },
);

interface Scene {
  readonly tenants: readonly (readonly [string, Parameters<typeof play>[1]])[];
  readonly trouble: Partial<Record<AgentEventType, Trouble>>;
  readonly policy: Partial<RunOptions<undefined>>;
}

/** Runs one program for each tenant, all at once, and waits for all that they leave behind. */
async function perform({ tenants, trouble, policy }: Scene) {
  const collected = collectSpans();
  const bridge = new Bridge({ tracerProvider: collected.provider });
  const sink = new TroubledSink(bridge, trouble);
  const parents = new Map<string, Standing>();
  const tenantOf = new Map<string, string>();
  const unannounced: Standing[] = [];
  const children: Promise<unknown>[] = [];
  const endings = await Promise.all(
    tenants.map(([tenant, steps]) => {
      const controller = new AbortController();
      const stage = {
        abort: () => controller.abort(),
        acts: (at: Standing) => {
          if (!isAnnounced(sink, at)) unannounced.push(at);
        },
        begins: (runId: string, inside: Standing) => {
          parents.set(runId, inside);
          tenantOf.set(runId, tenant);
        },
        children,
      };
      const { signal } = controller;
      const options = { sink, agent: "root", tenant, signal, deadlineMs: 6, graceMs: 2, ...policy };
      return runAgent(options, (run) => {
        tenantOf.set(run.runId, tenant);
        return play(run, steps, stage);
      }).then(
        () => "complete",
        () => "error",
      );
    }),
  );
  // What outlives its run may still begin children, and these others.
  for (let at = 0; at < children.length; at++) await children[at];
  await new Promise((resolve) => setTimeout(resolve, 10));
  for (let at = 0; at < children.length; at++) await children[at];
  await bridge.shutdown();
  return { ...collected, sink, parents, tenantOf, unannounced, endings };
}

function isAnnounced(sink: TroubledSink, at: Standing): boolean {
  return sink.handed.some(
    ({ event }) =>
      event.type === "tool_start" &&
      event.run_id === at.runId &&
      event.tool_use_id === at.toolUseId,
  );
}

function byRun(handed: readonly Handed[]): Handed[][] {
  const runs = new Map<string, Handed[]>();
  for (const one of handed) {
    const events = runs.get(one.event.run_id) ?? [];
    events.push(one);
    runs.set(one.event.run_id, events);
  }
  return [...runs.values()];
}

/** What must hold of each run, whatever its code and its sink do. */
function expectContract(events: readonly Handed[]): void {
  const names = events.map(({ event }) => event.type);
  expect(names[0]).toBe("started");
  expect(names.filter((type) => type === "started")).toHaveLength(1);
  const terminal = names.findIndex((type) => TERMINAL.has(type));
  if (terminal >= 0) expect(terminal).toBe(names.length - 1);
  expect(events.map(({ envelope }) => envelope?.sequence)).toEqual(events.map((_, at) => at));
  expect(new Set(events.map(({ event }) => event.tenant_id)).size).toBe(1);
  const open = new Set<string>();
  for (const { event } of events) {
    switch (event.type) {
      case "tool_start":
        open.add(event.tool_use_id);
        break;
      case "model_start":
        open.add(event.model_call_id);
        break;
      case "tool_complete":
      case "tool_error":
        expect(open.delete(event.tool_use_id)).toBe(true);
        break;
      case "model_complete":
      case "model_error":
        expect(open.delete(event.model_call_id)).toBe(true);
    }
  }
  if (terminal >= 0) expect([...open]).toEqual([]);
}

const scene = (tenants: readonly string[], troubled: boolean): fc.Arbitrary<Scene> =>
  fc.record({
    tenants: fc.tuple(...tenants.map((tenant) => fc.tuple(fc.constant(tenant), program))),
    trouble: troubled ? trouble : calm,
    policy: policies,
  });

describe("whatever the code of an agent does", () => {
  it("each run starts once, ends once, and every call and span ends with it", async () => {
    await fc.assert(
      fc.asyncProperty(scene(["acme"], false), async (scene) => {
        const { sink, started, ended, unannounced, parents } = await perform(scene);
        for (const events of byRun(sink.handed)) {
          expectContract(events);
          expect(TERMINAL.has(events.at(-1)?.event.type ?? "started")).toBe(true);
        }
        expect(unannounced).toEqual([]);
        expect([...ended].sort()).toEqual([...started].sort());
        expect([...ended.values()].every((times) => times === 1)).toBe(true);
        expectParents(sink.handed, parents);
      }),
      { numRuns: runs(150) },
    );
  }, 60_000);

  it("and whatever the sink does, it is told in order, and nobody waits for ever", async () => {
    await fc.assert(
      fc.asyncProperty(scene(["acme"], true), async (scene) => {
        const { sink, started, ended } = await perform(scene);
        for (const events of byRun(sink.handed)) expectContract(events);
        expect([...ended].sort()).toEqual([...started].sort());
        if (scene.trouble.started === "throws" || scene.trouble.started === "rejects") {
          expect(sink.handed.map(({ event }) => event.type)).toEqual(["started"]);
        }
      }),
      { numRuns: runs(150) },
    );
  }, 60_000);

  it("two tenants at once never mix", async () => {
    await fc.assert(
      fc.asyncProperty(scene(["acme", "globex"], false), async (scene) => {
        const { sink, tenantOf, parents, spans } = await perform(scene);
        for (const { event } of sink.handed) {
          const expected = tenantOf.get(event.run_id);
          if (expected !== undefined) expect(event.tenant_id).toBe(expected);
        }
        expectParents(sink.handed, parents);
        const tenantsOfTrace = new Map<string, Set<unknown>>();
        for (const span of spans()) {
          const { traceId } = span.spanContext();
          const tenants = tenantsOfTrace.get(traceId) ?? new Set();
          tenantsOfTrace.set(traceId, tenants.add(span.attributes["entelix.tenant_id"]));
        }
        for (const tenants of tenantsOfTrace.values()) expect(tenants.size).toBe(1);
      }),
      { numRuns: runs(100) },
    );
  }, 60_000);
});

/** Each run names the run and the tool call whose code it was started in. */
function expectParents(handed: readonly Handed[], parents: ReadonlyMap<string, Standing>): void {
  for (const { event, envelope } of handed) {
    const inside = parents.get(event.run_id);
    if (event.type !== "started" || inside === undefined) continue;
    expect(event.parent_run_id).toBe(inside.runId);
    expect(envelope?.parent_tool_use_id).toBe(inside.toolUseId ?? null);
  }
}
