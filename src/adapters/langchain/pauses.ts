import type { InterruptionKind } from "../../errors/agent-error-detail.ts";
import { interruptionIn } from "../../runtime/interruption.ts";
import { fieldsOf, listOf, textOf } from "../shape.ts";
import type { Pause, RunState } from "./run-state.ts";
import { interruptsOf, signalOf } from "./thrown.ts";

/** How a run paused, as its event has it. */
export interface Interruption {
  readonly kind: InterruptionKind;
  /** Content. */
  readonly payload: unknown;
}

/** The pause that a thrown value means: LangGraph's, or one of this package's own. */
export function thrownPause(run: RunState, thrown: unknown): Interruption | undefined {
  if (signalOf(thrown) === "pause") {
    return interruptionOf(run, { status: undefined, interrupts: interruptsOf(thrown) });
  }
  const own = interruptionIn(thrown)?.detail;
  return own === undefined ? undefined : { kind: own.kind, payload: own.payload };
}

/** The pause of a graph that ended without an error. */
export function graphPause(run: RunState, outputs: unknown): Interruption | undefined {
  if (run.pause !== undefined) return interruptionOf(run, run.pause);
  const interrupts = listOf(fieldsOf(outputs)?.__interrupt__);
  return interrupts === undefined
    ? undefined
    : interruptionOf(run, { status: undefined, interrupts });
}

/** One pause more of the same run: parallel branches pause one by one. */
export function addPause(run: RunState, thrown: unknown): void {
  const known = run.pause?.interrupts ?? [];
  run.pause = { status: undefined, interrupts: [...known, ...interruptsOf(thrown)] };
}

function interruptionOf(run: RunState, pause: Pause): Interruption {
  const { status, interrupts } = pause;
  if (interrupts.length === 0 && status === "interrupt_after") {
    return {
      kind: { type: "scheduled_pause", phase: "after", node: run.node ?? "" },
      payload: null,
    };
  }
  if (interrupts.length === 0 && status === "interrupt_before") {
    // LangGraph does not say which node would have been next.
    return { kind: { type: "scheduled_pause", phase: "before", node: "" }, payload: null };
  }
  const call = callToApprove(run, interrupts);
  const kind: InterruptionKind =
    call === undefined ? { type: "custom" } : { type: "approval_pending", tool_use_id: call };
  return { kind, payload: interrupts };
}

/**
 * The tool call that awaits a person's decision: LangChain's `humanInTheLoopMiddleware` names the
 * tool, and the model's last answer has one call of that name.
 */
function callToApprove(run: RunState, interrupts: readonly unknown[]): string | undefined {
  const [only, another] = interrupts;
  if (another !== undefined || run.asked === undefined) return undefined;
  const requests = listOf(fieldsOf(fieldsOf(only)?.value)?.actionRequests);
  if (requests?.length !== 1) return undefined;
  const name = textOf(fieldsOf(requests[0])?.name);
  if (name === undefined) return undefined;
  const ids = [...run.asked].filter(([, tool]) => tool === name).map(([id]) => id);
  return ids.length === 1 ? ids[0] : undefined;
}
