import type { AgentEvent } from "../../../src/index.ts";
import type { Random } from "../../support/random.ts";
import { type RunEvents, second } from "../../support/run-events.ts";
import { HOSTILE_FORMS } from "./hostile-values.ts";
import { seededUuid } from "./seeded-ids.ts";

/** What is sent, as a program without types might send it. */
export interface HostileSend {
  readonly event: unknown;
  readonly envelope: unknown;
  /** For messages. */
  readonly what: string;
  /** An audit log may refuse it: a run starts or ends by it, or its type changes while it is read. */
  readonly mayReject: boolean;
}

/** One event of any type. */
function anyEvent(run: RunEvents, random: Random): AgentEvent {
  const child = random.chance(0.3) ? seededUuid(random) : null;
  return random.of<() => AgentEvent>([
    () => run.started("agent", child),
    () => run.toolStart("call_1", "search", { q: 1 }),
    () => run.toolComplete("call_1", "search"),
    () => run.toolError("call_1"),
    () => run.approved("call_1"),
    () => run.denied("call_1"),
    () => run.modelStart("m1", { input: ["hi"] }),
    () => run.modelComplete("m1", { output: "ho" }),
    () => run.modelError("m1"),
    () => run.complete({ state: { a: 1 } }),
    () => run.failed(),
    () => run.interrupted({ payload: { a: 1 } }),
  ])();
}

/** An envelope with all that it may have. */
function wholeEnvelope(random: Random): Readonly<Record<string, unknown>> {
  return {
    timestamp: second(random.below(100)),
    event_id: seededUuid(random),
    sequence: random.below(10),
    thread_id: "th-1",
    session_id: "s-1",
    root_run_id: seededUuid(random),
    resumed_from_run_id: seededUuid(random),
    parent_tool_use_id: "call_1",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    tracestate: "a=b",
  };
}

/** A hostile event, a hostile envelope, or both. */
export function drawSend(run: RunEvents, random: Random): HostileSend {
  const event = anyEvent(run, random);
  const envelope = wholeEnvelope(random);
  const [first, second] = [random.of(HOSTILE_FORMS), random.of(HOSTILE_FORMS)];
  const both = random.below(3);
  return {
    event: both === 1 ? event : first.make({ ...event }, random),
    envelope: both === 0 ? envelope : second.make(envelope, random),
    what: `${event.type}: ${both === 1 ? "event" : first.name}, ${both === 0 ? "envelope" : second.name}`,
    mayReject: /^(?:started|complete)$/.test(event.type) || first.changes === true,
  };
}
