import type { InterruptionKind } from "../../events/door.ts";
import { countOf, type Fields, fieldsOf, type KnownPause, listOf, textOf } from "../core/door.ts";
import { interruptionIn } from "../runtime/door.ts";
import { interruptsOf, signalOf } from "./langchain-errors.ts";
import type { Review } from "./pending-reviews.ts";
import { type AskedCall, lastCalls, requestedCalls } from "./review.ts";
import type { Pause, RunState } from "./run-state.ts";

/** The pause of a run, as its event has it. */
export interface Interruption {
  readonly kind: InterruptionKind;
  /** Content. */
  readonly payload: unknown;
  /** The calls that wait for a decision, one entry for each interrupt. */
  readonly reviews?: readonly Review[] | undefined;
}

/** The pause that a thrown value means: one of LangGraph, or of this package. */
export function thrownPause(run: RunState, thrown: unknown): Interruption | undefined {
  if (signalOf(thrown) === "pause") {
    return interruptionOf(run, { status: undefined, interrupts: interruptsOf(thrown) });
  }
  const own = interruptionIn(thrown)?.detail;
  return own === undefined ? undefined : { kind: own.kind, payload: own.payload };
}

/** The pause of a graph that ended without an error. */
export function graphPause(run: RunState, outputs: unknown): Interruption | undefined {
  if (run.pause !== undefined) return interruptionOf(run, run.pause, outputs);
  const interrupts = listOf(fieldsOf(outputs)?.__interrupt__);
  return interrupts === undefined
    ? undefined
    : interruptionOf(run, { status: undefined, interrupts }, outputs);
}

/** Adds interrupts to a pause, because parallel branches pause one after the other. */
export function addPause(run: RunState, thrown: unknown): void {
  const known = run.pause?.interrupts ?? [];
  run.pause = { status: undefined, interrupts: [...known, ...interruptsOf(thrown)] };
}

function interruptionOf(run: RunState, pause: Pause, outputs?: unknown): Interruption {
  const { status, interrupts } = pause;
  if (interrupts.length === 0 && status === "interrupt_after") {
    return {
      kind: { type: "scheduled_pause", phase: "after", node: run.node ?? "" },
      payload: null,
    };
  }
  if (interrupts.length === 0 && status === "interrupt_before") {
    // LangGraph does not report the next node.
    return { kind: { type: "scheduled_pause", phase: "before", node: "" }, payload: null };
  }
  const reviews = reviewsIn(run, interrupts, outputs);
  const first = reviews.find(({ calls }) => calls.length > 0)?.calls[0];
  if (first === undefined) return { kind: { type: "custom" }, payload: interrupts, reviews: NONE };
  return {
    kind: { type: "approval_pending", tool_use_id: first.id },
    // The middleware names tools, not calls.
    payload: interrupts.map((interrupt, at) => named(interrupt, reviews[at]?.calls ?? [])),
    reviews: reviews.map(({ calls, interruptId }) => ({
      interruptId,
      callIds: calls.map(({ id }) => id),
    })),
  };
}

const NONE: readonly Review[] = [];

/**
 * The tool calls that wait for a person's decision. LangChain's `humanInTheLoopMiddleware` names the tools, and the
 * model's last answer has the calls.
 */
function reviewsIn(run: RunState, interrupts: readonly unknown[], outputs: unknown) {
  const calls = lastCalls(outputs) ?? run.asked.last;
  return interrupts.map((interrupt) => ({
    interruptId: textOf(fieldsOf(interrupt)?.id),
    calls: requestedCalls(interrupt, calls) ?? [],
  }));
}

function named(interrupt: unknown, calls: readonly AskedCall[]): unknown {
  if (calls.length === 0) return interrupt;
  const tool_calls = calls.map(({ id, tool }) => ({ tool_use_id: id, tool }));
  return { ...fieldsOf(interrupt), tool_calls };
}

/** Data of a paused run for its resumption, as plain JSON. */
export function pauseDetails(run: RunState, reviews: readonly Review[] = NONE): Fields {
  return { checkpointId: run.pause?.checkpointId, reviews, part: run.part };
}

/** The tool calls that wait for a decision, one entry for each interrupt. */
export function reviewsOf(paused: KnownPause | undefined): readonly Review[] {
  return (listOf(paused?.details?.reviews) ?? []).map((review) => {
    const { callIds, interruptId } = fieldsOf(review) ?? {};
    const ids = (listOf(callIds) ?? []).filter((id) => typeof id === "string");
    return { interruptId: textOf(interruptId), callIds: ids };
  });
}

/** Number of segments of the run with that ID. */
export function partOf({ details }: KnownPause): number {
  return countOf(details?.part) ?? 1;
}
