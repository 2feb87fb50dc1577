import {
  compareInstants,
  type Instant,
  isAt,
  type JsonValue,
  type LateReason,
  type Signal,
  type SignalAttributes,
} from "../../../events/door.ts";
import { eventIn } from "../decode-line.ts";
import type { JsonObject, LineEnvelope } from "../dialect.ts";
import type { Mapping, ProjectedRow, Translated } from "../mapping.ts";
import { Arrival, SignalList } from "./arrival.ts";
import type {
  DefectEvent,
  LeafEvent,
  TurnAborted,
  TurnEnded,
  UserPromptCommitted,
} from "./events.ts";
import { type DefectLimits, resolveDefectLimits } from "./limits.ts";
import { SessionStreams, type Stream } from "./streams.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { Turn, TurnEvent } from "./turn.ts";
import { TurnOpenings } from "./turn-openings.ts";
import { RowBudget } from "./turn-rows.ts";

export interface DefectMappingOptions {
  /** Tenant of lines that name none. Default `default`. */
  readonly tenant?: string | undefined;
  /** Whether audit rows are made. Default `true`. Not needed without an audit log. */
  readonly rows?: boolean | undefined;
  /** Bounds of the state. Defaults: see {@link DefectLimits}. */
  readonly limits?: Partial<DefectLimits> | undefined;
}

/** Counts of events and rows that the mapping dropped. */
export interface DefectCounts {
  /** Turns that upstream rolled back. */
  readonly rolledBackTurns: number;
  /** Audit rows of these turns. They are not written. */
  readonly rolledBackRows: number;
  /** Audit rows that were dropped because too many waited for the end of their turns. */
  readonly rowsOver: number;
  /** Sub-agents without a row in their parent's log: they began after the turn of their call. */
  readonly unannounced: number;
  /** Events of a turn that was over. */
  readonly lateEvents: number;
  /** Streams that were forgotten. Run IDs of later turns there start over. */
  readonly forgottenStreams: number;
  /** Open tool calls that were forgotten within their turn. */
  readonly forgottenCalls: number;
}

/**
 * Reads the events of defect sessions as signals. A turn is a run, from its prompt to its end. A turn of a sub-agent is
 * a run below the call that spawned it, at any depth. Audit rows are held until the turn ends, because an aborted turn
 * is rolled back.
 *
 * State is bounded by {@link DefectLimits}. `counts` has the numbers of dropped items.
 *
 * @example
 * const mapping = new DefectMapping({ tenant: "acme" });
 * const { signals, rows } = mapping.translate(event, envelope);
 */
export class DefectMapping implements Mapping<DefectEvent> {
  readonly #tenant: string;
  readonly #streams: SessionStreams;
  readonly #openings: TurnOpenings;
  readonly #budget: RowBudget;
  readonly #unprojected = new Map<string, number>();
  #rolledBackTurns = 0;
  #rolledBackRows = 0;
  #lateEvents = 0;
  #forgottenStreams = 0;
  #forgottenCalls = 0;

  /** @throws RangeError if a limit is not a whole number from 2. */
  constructor(options: DefectMappingOptions = {}) {
    const limits = resolveDefectLimits(options.limits);
    this.#tenant = options.tenant ?? "default";
    this.#streams = new SessionStreams(limits.streams);
    const rows = options.rows ?? true;
    this.#budget = new RowBudget(limits.heldRows, limits.heldCharacters, rows);
    this.#openings = new TurnOpenings(this.#streams, this.#budget, limits);
  }

  get unprojected(): ReadonlyMap<string, number> {
    return this.#unprojected;
  }

  get counts(): DefectCounts {
    return {
      rolledBackTurns: this.#rolledBackTurns,
      rolledBackRows: this.#rolledBackRows,
      rowsOver: this.#budget.over,
      unannounced: this.#openings.unannounced,
      lateEvents: this.#lateEvents,
      forgottenStreams: this.#forgottenStreams,
      forgottenCalls: this.#forgottenCalls,
    };
  }

  translate(event: DefectEvent, envelope: LineEnvelope): Translated {
    const tenantId = envelope.tenant_id ?? this.#tenant;
    const nested = event.type === "subagent";
    const stream = this.#streams.of(tenantId, envelope, nested ? event.ancestor_path : NO_PATH);
    const out = new SignalList(tenantId);
    // Without ancestors it is an event of the session's own turn, which has no name.
    const agent = nested && event.ancestor_path.length > 0 ? event.agent_type : undefined;
    const arrival = new Arrival(envelope, stream, agent, out);
    const over = this.#take(stream, nested ? event.inner : event, arrival);
    stream.ordinal++;
    for (const forgotten of this.#streams.takeForgotten()) this.#forget(forgotten, out);
    const { signals } = out;
    return { tenantId, threadId: over?.thread, signals, rows: over?.rows ?? NO_ROWS };
  }

  keepAlive(value: JsonObject, envelope: LineEnvelope): Signal | undefined {
    const tenantId = envelope.tenant_id ?? this.#tenant;
    const { ancestor_path, type } = eventIn(value);
    const path = type === "subagent" ? textsIn(ancestor_path) : NO_PATH;
    const turn = path && this.#streams.known(tenantId, envelope, path)?.turn;
    if (turn === undefined) return undefined;
    const at: Instant = [envelope.timestamp[0], envelope.timestamp[1]];
    if (compareInstants(at, turn.lastAt) > 0) turn.lastAt = at;
    return { signal: "activity", tenantId, runId: turn.ref.runId, at };
  }

  /** Ends the input. Turns that are still open were not rolled back, so their rows are returned. */
  end(): readonly Translated[] {
    const all: Translated[] = [];
    for (const stream of this.#streams) {
      const { tenantId, turn } = stream;
      if (turn === undefined) continue;
      const out = new SignalList(tenantId);
      turn.settle(turn.lastAt, out);
      // Reports the last activity of the run. A run that the lifecycle has closed stays closed.
      out.add({ tenantId, runId: turn.ref.runId, at: turn.lastAt, signal: "activity" });
      const { rows, thread } = this.#over(stream, turn, turn.lastAt);
      all.push({ tenantId, threadId: thread, signals: out.signals, rows });
    }
    return all;
  }

  /** @returns the turn that this event ends, with its rows. */
  #take(stream: Stream, event: LeafEvent, arrival: Arrival): OverTurn | undefined {
    switch (event.type) {
      case "user_prompt_committed":
        return this.#prompt(stream, event, arrival);
      case "turn_started":
        this.#leaveUnprojected(event);
        return this.#start(stream, arrival);
      case "turn_ended":
      case "turn_aborted":
        return this.#end(stream, event, arrival);
      default:
        this.#inside(stream, event, arrival);
        return undefined;
    }
  }

  #prompt(stream: Stream, event: UserPromptCommitted, arrival: Arrival): OverTurn | undefined {
    const { turn } = stream;
    if (turn !== undefined && isPromptAgain(turn, arrival)) return undefined;
    const over = turn && this.#giveUp(stream, turn, arrival);
    this.#openings.open(stream, "prompt", arrival).rows.prompt(event.content, arrival.at);
    return over;
  }

  #start(stream: Stream, arrival: Arrival): OverTurn | undefined {
    const { turn } = stream;
    if (turn !== undefined && isStartAgain(turn, arrival)) return undefined;
    const follows = turn?.opening === "prompt" || (turn && isAt(turn.openedAt, arrival.at));
    if (turn !== undefined && turn.startedAt === undefined && follows) {
      turn.startedAt = arrival.at;
      activityIn(turn, arrival);
      return undefined;
    }
    const over = turn && this.#giveUp(stream, turn, arrival);
    this.#openings.open(stream, "turn_started", arrival);
    return over;
  }

  #end(stream: Stream, event: TurnEnded | TurnAborted, arrival: Arrival): OverTurn | undefined {
    const turn = this.#turnOf(stream, event, arrival);
    const { at, out } = arrival;
    if (turn === undefined) {
      this.#tooLate(stream, event, arrival, "second_terminal");
      return undefined;
    }
    activityIn(turn, arrival);
    if (event.type === "turn_aborted") {
      this.#leaveUnprojected(event);
      turn.abort(at, out);
      this.#rolledBackTurns++;
      this.#rolledBackRows += this.#over(stream, turn, at).rows.length;
      return undefined;
    }
    if (!turn.end(event.reason, event.usage, at, out)) this.#leaveUnprojected(event);
    return this.#over(stream, turn, at);
  }

  #inside(stream: Stream, event: TurnEvent, arrival: Arrival): void {
    const compacts = event.type === "context_compressed" || event.type === "context_microcompacted";
    if (compacts && stream.turn === undefined) {
      // A background task of the session. The next turn reports it.
      stream.compactions.add(event);
      this.#leaveUnprojected(event);
      return;
    }
    const turn = this.#turnOf(stream, event, arrival);
    if (turn === undefined) {
      this.#late(stream, event, arrival);
      return;
    }
    activityIn(turn, arrival);
    if (event.type === "tool_call_started") this.#openings.maySpawn(stream, event.id, turn.ref);
    const { at, identified, out } = arrival;
    if (!turn.take(event, at, identified, out)) this.#leaveUnprojected(event);
    turn.reportActivity(at, out);
  }

  /**
   * The open turn of an event. Without one, the event belongs to the previous turn if it came before that turn's
   * end, at the same time, or can only concern that turn or one of its calls. Any other event opens a turn whose
   * start was not seen.
   */
  #turnOf(stream: Stream, event: LeafEvent, arrival: Arrival): Turn | undefined {
    const { lastEnd, turn } = stream;
    if (turn !== undefined) return turn;
    if (lastEnd !== undefined) {
      if (isEnd(event) || isAboutCall(event) || compareInstants(arrival.at, lastEnd) <= 0)
        return undefined;
    }
    return this.#openings.open(stream, "unseen", arrival);
  }

  /** An event of a turn that is over. The lifecycle handles the late end of a call. */
  #late(stream: Stream, event: TurnEvent, arrival: Arrival): void {
    if (event.type !== "tool_call_finished" || stream.last === undefined) {
      this.#tooLate(stream, event, arrival, "after_end");
      return;
    }
    this.#lateEvents++;
    this.#leaveUnprojected(event);
    const { at, identified, out } = arrival;
    new ToolCalls(stream.last.runId, 1).finish(event.id, event.fields, at, identified, out);
  }

  #tooLate(stream: Stream, event: LeafEvent, { at, out }: Arrival, reason: LateReason): void {
    this.#lateEvents++;
    this.#leaveUnprojected(event);
    const runId = stream.last?.runId ?? "";
    out.add({ tenantId: out.tenantId, runId, at, signal: "late", reason });
  }

  #giveUp(stream: Stream, turn: Turn, { out }: Arrival): OverTurn {
    turn.giveUp("superseded", out);
    return this.#over(stream, turn, turn.lastAt);
  }

  /** The rows belong to another thread than the event, so they are not returned with it. */
  #forget(stream: Stream, out: SignalList): void {
    this.#forgottenStreams++;
    const { tenantId, turn } = stream;
    if (turn === undefined) return;
    const own = new SignalList(tenantId);
    turn.giveUp("limit", own);
    for (const signal of own.signals) out.signals.push(signal);
    this.#budget.lose(this.#over(stream, turn, turn.lastAt).rows.length);
  }

  #over(stream: Stream, turn: Turn, at: Instant): OverTurn {
    stream.turn = undefined;
    stream.last = turn.ref;
    stream.lastEnd = at;
    this.#forgottenCalls += turn.tools.forgotten;
    return { thread: turn.ref.thread, rows: turn.rows.release() };
  }

  #leaveUnprojected({ type }: LeafEvent): void {
    this.#unprojected.set(type, (this.#unprojected.get(type) ?? 0) + 1);
  }
}

/** A turn that is over, and its audit rows. */
interface OverTurn {
  readonly thread: string | undefined;
  readonly rows: readonly ProjectedRow[];
}

/** Whether a prompt repeats the one that opened the turn. */
function isPromptAgain(turn: Turn, { at, identified }: Arrival): boolean {
  if (identified || turn.busy || turn.opening !== "prompt") return false;
  return isAt(turn.openedAt, at);
}

/** Whether a `turn_started` repeats the turn's own. */
function isStartAgain(turn: Turn, { at, identified }: Arrival): boolean {
  if (identified || turn.busy || turn.startedAt === undefined) return false;
  return isAt(turn.startedAt, at);
}

function activityIn(turn: Turn, { agent, at, out }: Arrival): void {
  if (compareInstants(at, turn.lastAt) > 0) turn.lastAt = at;
  if (!turn.nameless || agent === undefined) return;
  turn.nameless = false;
  const attributes: SignalAttributes = { "gen_ai.agent.name": agent };
  out.add({ tenantId: out.tenantId, runId: turn.ref.runId, at, signal: "attributes", attributes });
}

/**
 * Whether the event ends a turn. It opens none: a turn with nothing but its end would say no more than a second end.
 */
function isEnd({ type }: LeafEvent): boolean {
  return type === "turn_ended" || type === "turn_aborted";
}

/** Whether the event only concerns one call, so that it opens no turn. */
function isAboutCall({ type }: LeafEvent): boolean {
  return (
    type === "tool_call_progress" ||
    type === "tool_call_finished" ||
    type === "policy_decision" ||
    type === "permission_resolved"
  );
}

function textsIn(value: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === "string");
  return texts.length === value.length ? texts : undefined;
}

const NO_PATH: readonly string[] = [];
const NO_ROWS: readonly ProjectedRow[] = [];
