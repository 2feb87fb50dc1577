import { MOST_NAME, RecentMap, type SignalAttributes } from "../../../events/door.ts";
import { derivedRunId } from "../mapping.ts";
import type { Arrival } from "./arrival.ts";
import type { DefectLimits } from "./limits.ts";
import type { SessionStreams, Stream } from "./streams.ts";
import { Turn, type TurnOpening, type TurnRef } from "./turn.ts";
import type { RowBudget } from "./turn-rows.ts";

/** Opens turns: derives run IDs, and finds the parent calls of sub-agents. */
export class TurnOpenings {
  /** Sub-agents that began after the turn of their call, or without a known name. */
  unannounced = 0;
  readonly #streams: SessionStreams;
  readonly #budget: RowBudget;
  readonly #openCalls: number;
  /** The turn that last started a tool call, by stream and call ID. Sub-agents may outlive the turn. */
  readonly #callers: RecentMap<TurnRef>;

  constructor(streams: SessionStreams, budget: RowBudget, limits: DefectLimits) {
    this.#streams = streams;
    this.#budget = budget;
    this.#openCalls = limits.openCalls;
    this.#callers = new RecentMap(Math.ceil(limits.callers / 2));
  }

  /** A call began in the stream's open turn. It may spawn sub-agents. */
  maySpawn(stream: Stream, callId: string, turn: TurnRef): void {
    this.#callers.set(callKey(stream, callId), turn);
  }

  open(stream: Stream, opening: TurnOpening, arrival: Arrival): Turn {
    const { at, out } = arrival;
    const parent = this.#parentOf(stream, arrival);
    const runId = derivedRunId(stream.tenantId, stream.name, arrival.openingOf(stream));
    const ref = { runId, thread: threadOf(stream, runId, parent) };
    const agent = arrival.agentOf(stream);
    const position = { child: parent !== undefined, nameless: parent !== undefined && !agent };
    const turn = new Turn(ref, at, opening, position, this.#budget, this.#openCalls);
    stream.turn = turn;
    out.add({
      tenantId: out.tenantId,
      runId,
      at,
      signal: "run_opens",
      agent,
      parentRunId: parent?.runId,
      parentCallId: stream.path.at(-1),
      // A sub-agent has a conversation of its own, which has no name.
      threadId: parent === undefined ? stream.session : undefined,
      attributes: {
        "entelix.source": "defect",
        "entelix.run.start_unseen": opening === "unseen" ? true : undefined,
      } satisfies SignalAttributes,
    });
    turn.compactions.takeFrom(stream.compactions);
    turn.compactions.report(runId, at, out);
    if (parent !== undefined) this.#announce(stream, parent, ref, arrival);
    this.#streams.opened(stream);
    return turn;
  }

  /** The turn whose call spawned this stream. Opens turn and call if they were not seen. */
  #parentOf(stream: Stream, arrival: Arrival): TurnRef | undefined {
    const callId = stream.path.at(-1);
    if (callId === undefined) return undefined;
    const above = this.#streams.above(stream);
    const known = this.#callers.get(callKey(above, callId));
    if (known !== undefined) return known;
    if (above.turn === undefined && above.last !== undefined) return above.last;
    const turn = above.turn ?? this.#openUnseen(above, arrival);
    // Otherwise the parent span would not exist.
    turn.tools.openUnseen(callId, arrival.at, arrival.out);
    this.maySpawn(above, callId, turn.ref);
    return turn.ref;
  }

  #openUnseen(stream: Stream, arrival: Arrival): Turn {
    const turn = this.open(stream, "unseen", arrival);
    // Counts as a line of the stream, so that no later line derives the same run ID.
    stream.ordinal++;
    return turn;
  }

  /** Adds a row about the sub-agent to the turn of its call, if that turn is open. */
  #announce(stream: Stream, parent: TurnRef, { runId, thread }: TurnRef, arrival: Arrival): void {
    const { turn } = this.#streams.above(stream);
    const agent = arrival.agentOf(stream);
    if (turn?.ref === parent && agent !== undefined) {
      turn.rows.subAgent(agent, thread ?? runId, arrival.at);
    } else this.unannounced++;
  }
}

/** Thread of a turn's rows: the session, or for a sub-agent the parent's thread and the spawning call. */
function threadOf(stream: Stream, runId: string, parent: TurnRef | undefined): string | undefined {
  if (parent === undefined) return stream.session;
  const thread = `${parent.thread ?? parent.runId}/${stream.path.at(-1)}`;
  return thread.length > MOST_NAME ? runId : thread;
}

function callKey(stream: Stream, callId: string): string {
  return `${stream.key}\0\0${callId}`;
}
