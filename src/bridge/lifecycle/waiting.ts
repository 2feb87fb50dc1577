import { compareInstants, type Instant, millisecondsBetween } from "../../events/door.ts";
import type { Call } from "./part.ts";
import type { Run } from "./run.ts";
import type { Tree } from "./tree.ts";

/**
 * What a run waits for. The first of these that applies:
 *
 * - `approval`: one of its calls waits for a decision, or for a child run that has paused.
 * - `tool`: an open tool call without an open child run.
 * - `model`: an open model call.
 * - `child`: an open child run.
 * - `nothing`: it is between calls.
 * - `unknown`: its calls are not followed, or it may have ended and its source has no event for that.
 */
export type WaitKind = (typeof WAIT_KINDS)[number];

/** Every {@link WaitKind}. */
export const WAIT_KINDS = ["approval", "tool", "model", "child", "nothing", "unknown"] as const;

/** What a run waits for, and since when, by the clock of its events. */
export interface Wait {
  readonly kind: WaitKind;
  /** The tool, the requested model, or the child's agent. */
  readonly name: string | undefined;
  readonly since: Instant;
}

/** The open children of runs. */
export type OpenChildren<H> = ReadonlyMap<Run<H>, readonly Run<H>[]>;

/** The open children in a tree, by parent. `undefined` for a tree of one run, which is the usual case. */
export function childrenIn<H>(tree: Tree<H>): OpenChildren<H> | undefined {
  if (tree.first === tree.last) return undefined;
  const children = new Map<Run<H>, Run<H>[]>();
  for (let run = tree.first; run !== undefined; run = run.next) {
    if (run.parent === undefined) continue;
    const known = children.get(run.parent);
    if (known === undefined) children.set(run.parent, [run]);
    else known.push(run);
  }
  return children;
}

/** @param children those of the run's tree. */
export function waitOf<H>(run: Run<H>, children: OpenChildren<H> | undefined): Wait {
  const { lastAt, mayEnd } = run;
  if (mayEnd !== undefined) return { kind: "unknown", name: undefined, since: mayEnd.at };
  const asked = run.approvals?.oldestAsked;
  if (asked !== undefined) return { kind: "approval", name: asked.name, since: asked.at };
  const own = children?.get(run) ?? NO_RUNS;
  const call = ownCall(run, own);
  if (call !== undefined) return { kind: "tool", name: call.name, since: call.startedAt };
  const model = run.models?.newestOf("") ?? run.models?.oldest;
  if (model !== undefined) return { kind: "model", name: model.model, since: model.startedAt };
  const child = earliest(own);
  if (child !== undefined) return { kind: "child", name: child.agent, since: child.startedAt };
  const kind = run.followsCalls ? "nothing" : "unknown";
  return { kind, name: undefined, since: lastAt };
}

/**
 * The oldest open call of a run that does not wait for a child run. A child without a known call counts
 * for the oldest call that has no child of its own.
 */
function ownCall<H>(run: Run<H>, children: readonly Run<H>[]): Call<H> | undefined {
  if (run.toolCalls === 0) return undefined;
  const { calls } = run;
  if (children.length === 0) return calls.oldest;
  const dispatching = new Set<Call<H>>();
  let withoutCall = 0;
  for (const { parentCallId, parentCallKey } of children) {
    if (parentCallId === undefined) withoutCall++;
    else {
      const call = calls.newestOf(parentCallKey ?? parentCallId);
      if (call !== undefined) dispatching.add(call);
    }
  }
  for (let call = calls.oldest; call !== undefined; call = call.next) {
    if (!dispatching.has(call) && withoutCall-- <= 0) return call;
  }
  return undefined;
}

function earliest<H>(runs: readonly Run<H>[]): Run<H> | undefined {
  let first = runs[0];
  for (const run of runs) {
    if (first === undefined || compareInstants(run.startedAt, first.startedAt) < 0) first = run;
  }
  return first;
}

const NO_RUNS: readonly never[] = [];

/**
 * Up to this difference, in ms, the clocks of sender and receiver count as equal. The receiver's clock is
 * read every 5 s (`RunKeeper.tick`), so a smaller difference can be an error of measurement.
 */
const SAME_CLOCK_MS = 10_000;

/**
 * Delay of a tree's events in ms: from the time in the event to its arrival. Negative if the sender's clock
 * is ahead. In a replay and in services, the newest event is the clock.
 */
export function delayOf<H>({ activityAt, lastAt }: Tree<H>): number {
  if (activityAt === undefined) return 0;
  const ms = millisecondsBetween(lastAt, activityAt);
  return Math.abs(ms) > SAME_CLOCK_MS ? ms : 0;
}

/**
 * Idle time of a run in ms, from 0: since its last event, or the last start or end of a direct child.
 *
 * It is measured from the arrival of events, as for `maxAgeMs`, so that a wrong clock or late events do not
 * look like a stall. Only the tree has a time of arrival, so its delay is used for the run.
 *
 * @param delay of the run's tree, in ms.
 */
export function idleMs<H>({ lastAt, tree }: Run<H>, now: Instant, delay: number): number {
  // `RunKeeper.tick` sets back the time of a tree whose clock is ahead, but not the times of its runs.
  const last = compareInstants(lastAt, tree.lastAt) > 0 ? tree.lastAt : lastAt;
  return Math.max(millisecondsBetween(last, now) - delay, 0);
}
