import { type DecisionDetails, millisecondsBetween } from "../../events/door.ts";
import {
  type DecidedBy,
  fieldIn,
  fieldsOf,
  listOf,
  personOf,
  type ToolDecision,
  textOf,
} from "../core/door.ts";
import type { AskedCall } from "./span-answer.ts";
import type { AgentRun, TraceRecord } from "./trace-record.ts";

// Decisions about calls. The SDK's spans show a rejection, and the start of a call that the run waited for. Only the
// run's state shows that calls of a tool are always approved, or that a callback approved one.

/** Details of decisions about an agent's calls. */
export class Approvals {
  readonly #decidedBy: DecidedBy | undefined;
  readonly #onError: (error: unknown) => void;

  constructor(decidedBy: DecidedBy | undefined, onError: (error: unknown) => void) {
    this.#decidedBy = decidedBy;
    this.#onError = onError;
  }

  /**
   * The details of a decision. A person decided about the calls that a run waited for. Other calls were decided by a
   * rule, a callback of the application, or an earlier decision about all calls of the tool.
   */
  detailsOf(
    trace: TraceRecord,
    run: AgentRun,
    decision: ToolDecision,
    hasWaited: boolean,
  ): DecisionDetails {
    const { outcome } = decision;
    if (!hasWaited) return { outcome, by: "policy" };
    const person = personOf(this.#decidedBy, decision, trace.metadata ?? NONE, this.#onError);
    const { pausedAt, startedAt } = run;
    return {
      outcome,
      by: "user",
      ...(person === undefined ? {} : { person }),
      ...(pausedAt === undefined
        ? {}
        : { wait_ms: Math.max(0, Math.round(millisecondsBetween(pausedAt, startedAt))) }),
    };
  }

  /** Whether the call, or all calls of the tool, are approved, as far as the run's state is known. */
  isApproved(trace: TraceRecord, tool: string, toolUseId: string | undefined): boolean {
    const approved = fieldIn(fieldIn(this.#stateOf(trace), tool), "approved");
    return approved === true || listOf(approved)?.includes(toolUseId) === true;
  }

  /**
   * The decision about a call that has no span, from the run's state. The SDK makes no spans for rejected calls of its
   * own tools (shell, editor, computer) and for calls that OpenAI makes (hosted MCP).
   */
  decisionIn(trace: TraceRecord, { id, spanNames }: AskedCall): ToolDecision | undefined {
    for (const [tool, entry] of Object.entries(fieldsOf(this.#stateOf(trace)) ?? {})) {
      const isNamed = spanNames?.includes(tool) === true;
      const has = (decided: unknown) =>
        decided === true ? isNamed : listOf(decided)?.includes(id) === true;
      const reason = textOf(fieldIn(fieldIn(entry, "messages"), id)) ?? "";
      const named = { tool, toolUseId: id };
      if (has(fieldIn(entry, "rejected"))) return { outcome: "denied", reason, ...named };
      if (has(fieldIn(entry, "approved"))) return { outcome: "approved", reason: "", ...named };
    }
    return undefined;
  }

  /** Approvals by tool, from the run's state. `undefined`: not known. */
  #stateOf({ state }: TraceRecord): unknown {
    const context = fieldIn(state?.deref(), "_context");
    if (context === undefined) return undefined;
    try {
      const read = fieldIn(context, "toJSON");
      const written: unknown = typeof read === "function" ? read.call(context) : undefined;
      return fieldIn(written, "approvals");
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }
}

const NONE = {};
/** Maximum number of calls of a state that are read. */
const MOST = 1000;

/** A call that a paused run waits for, and the name of its agent. */
export interface AwaitedCall extends AskedCall {
  readonly agent: string;
}

/** The calls that a paused run waits for, from the SDK's state. This process did not see their spans. */
export function awaitedCalls(state: object): readonly AwaitedCall[] {
  const read = fieldIn(state, "getInterruptions");
  const items: unknown = typeof read === "function" ? read.call(state) : undefined;
  return (listOf(items) ?? []).slice(0, MOST).flatMap((item) => {
    const raw = fieldIn(item, "rawItem");
    const id = textOf(fieldIn(raw, "callId"));
    const tool = textOf(fieldIn(item, "toolName")) ?? textOf(fieldIn(raw, "name"));
    const agent = textOf(fieldIn(fieldIn(item, "agent"), "name"));
    if (id === undefined || tool === undefined || agent === undefined) return [];
    const input = textOf(fieldIn(raw, "arguments"));
    const spanNames = [tool];
    const unmade = { begun: false, isVoid: false, isMissing: false };
    return [{ id, tool, spanNames, agent, input, parts: [], bare: false, ...unmade }];
  });
}
