import {
  type Instant,
  millisecondsBetween,
  type RunEnd,
  type SignalAttributes,
} from "../../../events/door.ts";
import type { SignalList } from "./arrival.ts";
import { Compactions } from "./compactions.ts";
import type { DefectUsage, LeafEvent } from "./events.ts";
import { childTokensOf, ModelAttempts, tokensOf } from "./model-attempts.ts";
import { DEFECT_TERMINALS, type DefectTerminal, terminalOf } from "./terminals.ts";
import { ToolCalls } from "./tool-calls.ts";
import { type RowBudget, TurnRows } from "./turn-rows.ts";

/** A turn that makes no signals reports activity this often, in ms. */
const ACTIVITY_INTERVAL_MS = 60_000;

/** A turn that is over. */
export interface TurnRef {
  readonly runId: string;
  /** Thread of its audit rows. Absent: the run's own thread. */
  readonly thread: string | undefined;
}

/** The position of a turn among others. */
export interface TurnPosition {
  /** Whether it belongs to a sub-agent. */
  readonly child: boolean;
  /** Whether the sub-agent's name is still unknown. */
  readonly nameless: boolean;
}

/** The kind of event that opened a turn. */
export type TurnOpening = "prompt" | "turn_started" | "unseen";

/** Events within a turn. */
export type TurnEvent = Exclude<
  LeafEvent,
  { type: "turn_started" | "user_prompt_committed" | "turn_ended" | "turn_aborted" }
>;

/** An open turn: a run of its session or sub-agent. */
export class Turn {
  readonly ref: TurnRef;
  readonly openedAt: Instant;
  readonly opening: TurnOpening;
  /** Time of `turn_started`. */
  startedAt: Instant | undefined;
  /** Whether events beyond its prompt and start came. */
  busy = false;
  /** Time of its last event. */
  lastAt: Instant;
  /** Whether its agent's name must still be reported. */
  nameless: boolean;
  readonly tools: ToolCalls;
  readonly rows: TurnRows;
  readonly compactions = new Compactions();
  /** Time of the last report to the lifecycle. */
  #reportedAt: Instant;
  readonly #child: boolean;
  readonly #models: ModelAttempts;

  constructor(
    ref: TurnRef,
    at: Instant,
    opening: TurnOpening,
    { child, nameless }: TurnPosition,
    budget: RowBudget,
    mostCalls: number,
  ) {
    this.ref = ref;
    this.openedAt = at;
    this.lastAt = at;
    this.opening = opening;
    this.startedAt = opening === "turn_started" ? at : undefined;
    this.#reportedAt = at;
    this.nameless = nameless;
    this.#child = child;
    this.#models = new ModelAttempts(ref.runId);
    this.tools = new ToolCalls(ref.runId, mostCalls);
    this.rows = new TurnRows(ref.runId, budget);
  }

  /**
   * Takes an event within the turn.
   *
   * @param identified whether the event has an ID.
   * @returns whether the event has a row.
   */
  take(event: TurnEvent, at: Instant, identified: boolean, out: SignalList): boolean {
    this.busy = true;
    switch (event.type) {
      case "assistant_text":
        this.#models.answers(at);
        this.rows.text(event.content, at);
        return true;
      case "assistant_thought":
        this.#models.answers(at);
        this.rows.thought(event.content, at);
        return true;
      case "llm_call_started":
        this.#models.start(event, at, out);
        return false;
      case "llm_call_finished":
        return this.#models.finish(event, at, out) && this.rows.modelEnds(event.usage, at);
      case "tool_call_started": {
        this.#models.settleFailed(out);
        const { fields, id, name } = event;
        if (!this.tools.start(event, at, identified, out)) return false;
        this.rows.toolCall(id, name, fields, at);
        return true;
      }
      case "tool_call_progress":
        this.tools.progress(event.id, event.fields);
        return false;
      case "tool_call_finished": {
        const { fields, id } = event;
        const name = this.tools.finish(id, fields, at, identified, out);
        if (name === undefined) return false;
        this.rows.toolResult(id, name, fields, at);
        return true;
      }
      case "policy_decision":
        this.tools.decide(event.id, event.decision, at, out);
        return false;
      case "permission_resolved":
        this.tools.resolve(event.id, event.outcome, at, out);
        return false;
      case "context_compressed":
      case "context_microcompacted":
        this.compactions.note(event, this.ref.runId, at, out);
        return false;
      default:
        return event satisfies never;
    }
  }

  /** Reports activity once a minute while events make no signals. */
  reportActivity(at: Instant, out: SignalList): void {
    if (out.signals.length === 0) {
      if (millisecondsBetween(this.#reportedAt, at) < ACTIVITY_INTERVAL_MS) return;
      out.add({
        tenantId: out.tenantId,
        runId: this.ref.runId,
        at,
        signal: "attributes",
        attributes: {},
      });
    }
    this.#reportedAt = at;
  }

  /**
   * `turn_ended`: the run ends with the given reason.
   *
   * @returns whether the event has a row.
   */
  end(
    reason: string,
    usage: DefectUsage | null | undefined,
    at: Instant,
    out: SignalList,
  ): boolean {
    this.settle(at, out);
    const cancelled = reason === "cancelled";
    if (cancelled) this.rows.cancelled(at);
    const spoken = reason === "end_turn" || reason === "max_tokens" || reason === "refusal";
    const attributes = this.#child ? childTokensOf(usage) : tokensOf(usage);
    attributes["entelix.run.end_reason"] = reason;
    if (spoken) attributes["gen_ai.response.finish_reasons"] = [reason];
    this.#close(terminalOf(reason), at, "", out, attributes);
    return cancelled;
  }

  /** `turn_aborted`: upstream rolled the turn back. */
  abort(at: Instant, out: SignalList): void {
    this.#models.abort(at, out);
    this.tools.end(out);
    const { lastError } = this.#models;
    const terminal = lastError === undefined ? "aborted" : "aborted_by_model";
    this.#close(terminal, at, lastError ?? "", out, undefined);
  }

  /** Abandons the turn without an end: the next turn began, or there is no room. */
  giveUp(reason: "superseded" | "limit", out: SignalList): void {
    this.settle(this.lastAt, out);
    const end: RunEnd = { outcome: "abandoned", reason };
    out.add({
      tenantId: out.tenantId,
      runId: this.ref.runId,
      at: this.lastAt,
      signal: "run_closes",
      end,
    });
  }

  /** Reports model calls and refusals that were still open at `at`, since nothing else follows. */
  settle(at: Instant, out: SignalList): void {
    this.#models.end(at, out);
    this.tools.end(out);
  }

  #close(
    terminal: DefectTerminal,
    at: Instant,
    message: string,
    out: SignalList,
    attributes: SignalAttributes | undefined,
  ): void {
    const end = endOf(terminal, message, attributes);
    out.add({ tenantId: out.tenantId, runId: this.ref.runId, at, signal: "run_closes", end });
  }
}

function endOf(
  terminal: DefectTerminal,
  message: string,
  attributes: SignalAttributes | undefined,
): RunEnd {
  const { failureKind, outcome } = DEFECT_TERMINALS[terminal];
  switch (outcome) {
    case "complete":
      return { outcome, attributes };
    case "refused":
      return { outcome, attributes };
    case "failed":
      return { outcome, kind: { type: failureKind ?? "unclassified" }, message, attributes };
    default:
      return outcome satisfies never;
  }
}
