import type { SubAgentInvoked } from "../../../audit/door.ts";
import type { LogRun, OpenCall } from "./log-run.ts";

/** Deeper than agents nest. */
const DEEPEST = 64;

/**
 * The run of rows without a run ID. A turn's only active sub-agent writes to the turn's log. With several active, the
 * writer is unknown, and the row belongs to their parent.
 */
export function innermost(turn: LogRun): LogRun {
  let run = turn;
  for (let depth = 0; depth < DEEPEST && run.subAgents.length > 0; depth++) {
    const only = onlyAtWork(run.subAgents);
    if (only === undefined) return run;
    run = only;
  }
  return run;
}

/** The only sub-agent that is active in this log, if there is exactly one. */
function onlyAtWork(subAgents: readonly LogRun[]): LogRun | undefined {
  let only: LogRun | undefined;
  for (const each of subAgents) {
    if (each.hasOwnLog || each.isOver) continue;
    if (only !== undefined) return undefined;
    only = each;
  }
  return only;
}

/** The run that makes a call: the one whose last reply asked for it, else the innermost. */
export function callerOf(turn: LogRun, id: string, name: string): LogRun {
  const inner = innermost(turn);
  for (let run: LogRun | undefined = inner; run !== undefined; run = run.parent) {
    if (run.announced(id, name)) return run;
    if (run === turn) break;
  }
  return inner;
}

/** The innermost run with this open call. `undefined` if none has it. */
export function ownerOf(run: LogRun, id: string, name: string): LogRun | undefined {
  const { subAgents } = run;
  for (let n = subAgents.length - 1; n >= 0; n--) {
    const subAgent = subAgents[n];
    const owner = subAgent && ownerOf(subAgent, id, name);
    if (owner !== undefined) return owner;
  }
  return run.findCall(id, name) === undefined ? undefined : run;
}

/**
 * The innermost open call that dispatched a sub-agent: the one in the name of the sub-agent's thread (`{parent
 * log}/{call}`), else the one with the sub-agent's name.
 */
export function dispatchOf(
  run: LogRun,
  thread: string,
  { agent_id, sub_thread_id }: SubAgentInvoked,
): Dispatching | undefined {
  const above = `${thread}/`;
  const callId = sub_thread_id.startsWith(above) ? sub_thread_id.slice(above.length) : "";
  const named = callId === "" ? undefined : openCall(run, ({ id }) => id === callId);
  return named ?? openCall(run, ({ name }) => name === agent_id);
}

interface Dispatching {
  readonly run: LogRun;
  readonly call: OpenCall;
}

function openCall(run: LogRun, isIt: (call: OpenCall) => boolean): Dispatching | undefined {
  for (const subAgent of run.subAgents.toReversed()) {
    const found = openCall(subAgent, isIt);
    if (found !== undefined) return found;
  }
  const call = run.calls.find((each) => each.subAgent === undefined && isIt(each));
  return call === undefined ? undefined : { run, call };
}

/** A turn with all its active sub-agents, innermost first. */
export function levelsOf(run: LogRun): LogRun[] {
  return [...run.subAgents.flatMap(levelsOf), run];
}
