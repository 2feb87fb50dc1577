import fc from "fast-check";
import { RunIds } from "../../src/entries/context.ts";
import { FAILURE_KIND_IDS, type FailureKindId } from "../../src/entries/events.ts";
import { formatRfc3339 } from "../../src/events/door.ts";
import type { AgentEvent, EventEnvelope } from "../../src/index.ts";
import { RunEvents, second } from "../support/run-events.ts";
import type { Sent } from "./chaos.ts";

/** What an agent does in one run: calls one after the other, some of which dispatch a run. */
export interface Script {
  readonly agent: string;
  readonly steps: readonly Step[];
  readonly end: "complete" | "interrupted" | FailureKindId;
  /** After a pause: goes on with the same run id. */
  readonly more: Script | undefined;
}

type Step =
  | { readonly type: "deny"; readonly id: string }
  | {
      readonly type: "call";
      readonly id: string;
      readonly tool: string;
      readonly end: "complete" | "error" | "interrupted" | "never";
      readonly approved: boolean;
      readonly child: Script | undefined;
    };

const ids = fc.constantFrom("call_1", "call_2", "search#0", "");
const tools = fc.constantFrom("fetch", "검색");

export function script(depth = 3, calm = false): fc.Arbitrary<Script> {
  const call = fc.record({
    type: fc.constant("call" as const),
    id: ids,
    tool: tools,
    end: calm
      ? fc.constantFrom("complete" as const, "interrupted" as const, "never" as const)
      : fc.constantFrom(
          "complete" as const,
          "error" as const,
          "interrupted" as const,
          "never" as const,
        ),
    approved: fc.boolean(),
    child:
      depth === 0
        ? fc.constant(undefined)
        : fc.option(script(depth - 1, calm), { nil: undefined, freq: 3 }),
  });
  const deny = fc.record({ type: fc.constant("deny" as const), id: ids });
  const ends = calm ? [] : FAILURE_KIND_IDS;
  return fc.record({
    agent: fc.constantFrom("react", "supervisor"),
    steps: fc.array(fc.oneof({ weight: 5, arbitrary: call }, { weight: 1, arbitrary: deny }), {
      maxLength: 4,
    }),
    end: fc.constantFrom("complete" as const, "interrupted" as const, ...ends),
    more: depth < 3 ? fc.constant(undefined) : fc.option(script(1, calm), { nil: undefined }),
  });
}

/** A span as the contract has it, worked out from the script alone. */
export interface DrawnSpan {
  readonly name: string;
  readonly trace: string;
  readonly span: string;
  readonly parent: string | undefined;
  readonly start: string;
  readonly end: string;
  readonly outcome: unknown;
  readonly error: unknown;
}

interface Place {
  readonly trace: string;
  readonly parent: string | undefined;
  readonly parentRunId: string | null;
}

/** Plays scripts: the events an agent sends, and the spans that must come of them. */
export class Player {
  readonly sent: Sent[] = [];
  readonly drawn: DrawnSpan[] = [];
  #time = 0;
  #runs = 0;
  #events = 0;
  readonly #tenant: string;
  /** Tells the run ids of players apart. */
  readonly #number: number;

  constructor(tenant: string, number: number) {
    this.#tenant = tenant;
    this.#number = number;
  }

  play(plan: Script): void {
    const runId = this.#newRunId();
    const place = { trace: runId.replaceAll("-", ""), parent: undefined, parentRunId: null };
    this.#run(plan, new RunEvents(runId, this.#tenant), place, 1, new Map());
  }

  #newRunId(): string {
    this.#runs++;
    return `018f3c7a-00${String(this.#number).padStart(2, "0")}-7000-8000-${String(this.#runs).padStart(12, "0")}`;
  }

  #send(event: AgentEvent): string {
    this.#time += 0.25;
    const timestamp = second(this.#time);
    const sequence = this.#events++;
    const envelope: EventEnvelope = {
      event_id: `${this.#number}-${sequence}`,
      sequence,
      timestamp,
      thread_id: "th-1",
    };
    this.sent.push({ event, envelope });
    return formatRfc3339(timestamp);
  }

  #run(
    plan: Script,
    run: RunEvents,
    place: Place,
    segment: number,
    seen: Map<string, number>,
  ): void {
    const own = RunIds.fromUuid(run.run_id);
    if (own === undefined) throw new TypeError("made above");
    const span = segment === 1 ? own.spanId : own.childSpanId("s", String(segment));
    const start = this.#send(run.started(plan.agent, place.parentRunId));
    const never: { draw: (end: string) => void }[] = [];
    const occurrence = (id: string): number => {
      const count = (seen.get(id) ?? 0) + 1;
      seen.set(id, count);
      return count;
    };
    for (const step of plan.steps) {
      const draw = (tool: string, from: string, call: string, to: string, outcome: string) =>
        this.drawn.push({
          name: `execute_tool ${tool}`,
          trace: place.trace,
          span: call,
          parent: span,
          start: from,
          end: to,
          outcome,
          error: outcome === "error" ? "transient" : undefined,
        });
      if (step.type === "deny") {
        const at = this.#send(run.denied(step.id));
        const call = own.childSpanId("t", step.id, occurrence(step.id));
        draw("fetch", at, call, at, "denied");
        continue;
      }
      if (step.approved) this.#send(run.approved(step.id, step.tool));
      const from = this.#send(run.toolStart(step.id, step.tool));
      const call = own.childSpanId("t", step.id, occurrence(step.id));
      if (step.child !== undefined) {
        const runId = this.#newRunId();
        // Beside a call that never ended, nobody can tell which one dispatched the run.
        const parent = never.length === 0 ? call : span;
        const inside = { trace: place.trace, parent, parentRunId: run.run_id };
        this.#run(step.child, new RunEvents(runId, this.#tenant), inside, 1, new Map());
      }
      if (step.end === "never") {
        never.push({ draw: (to) => draw(step.tool, from, call, to, "unfinished") });
        // An open call of this id would take the end of the next one.
        continue;
      }
      const to = this.#send(endOf(run, step.id, step.tool, step.end));
      draw(step.tool, from, call, to, step.end);
    }
    const end = this.#send(terminalOf(run, plan.end));
    for (const call of never) call.draw(end);
    this.drawn.push({
      name: `invoke_agent ${plan.agent}`,
      trace: place.trace,
      span,
      parent: place.parent,
      start,
      end,
      outcome: plan.end === "complete" || plan.end === "interrupted" ? plan.end : "failed",
      error: plan.end === "complete" || plan.end === "interrupted" ? undefined : plan.end,
    });
    if (plan.end === "interrupted" && plan.more !== undefined) {
      this.#run({ ...plan.more, agent: plan.agent }, run, place, segment + 1, seen);
    }
  }
}

function endOf(
  run: RunEvents,
  id: string,
  tool: string,
  end: "complete" | "error" | "interrupted",
) {
  switch (end) {
    case "complete":
      return run.toolComplete(id, tool, 250);
    case "error":
      return run.toolError(id, { tool, duration_ms: 250 });
    case "interrupted":
      return { ...run.toolInterrupted(id), tool };
    default:
      return end satisfies never;
  }
}

function terminalOf(run: RunEvents, end: Script["end"]): AgentEvent {
  switch (end) {
    case "complete":
      return run.complete();
    case "interrupted":
      return run.interrupted();
    case "tool_error_terminal":
      return run.failed({ kind: { type: end, kind: "auth", tool_name: "bigquery" } });
    default:
      return run.failed({ kind: { type: end } });
  }
}

/** Several agents at once: each one's events in their order, in any order between them. */
export function interleave(streams: readonly (readonly Sent[])[], picks: Iterator<number>): Sent[] {
  const queues = streams.map((stream) => [...stream]);
  const all: Sent[] = [];
  for (;;) {
    const waiting = queues.filter((queue) => queue.length > 0);
    if (waiting.length === 0) return all;
    const next = waiting[Number(picks.next().value) % waiting.length]?.shift();
    if (next !== undefined) all.push(next);
  }
}
