import { compareInstants, type Instant, millisecondsBetween } from "../../events/door.ts";
import type { Call } from "./part.ts";
import type { Run } from "./run.ts";
import type { Tree } from "./tree.ts";

/**
 * What a run waits for, the first of this order that applies:
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

/** What a run waits for, and since when by the clock of its events. */
export interface Wait {
  readonly kind: WaitKind;
  /** The tool, the model that was asked for, or the child's agent. */
  readonly name: string | undefined;
  readonly since: Instant;
}

/** The open children of runs. */
export type OpenChildren<H> = ReadonlyMap<Run<H>, readonly Run<H>[]>;

/** The open children of the runs of a tree, by parent; `undefined` where it is one run, as it mostly is. */
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
 * The oldest open call of a run that is not a wait for one of its children. A child that does not say
 * which call it stands under counts for the oldest one that no other child stands under.
 */
function ownCall<H>(run: Run<H>, children: readonly Run<H>[]): Call<H> | undefined {
  if (run.toolCalls === 0) return undefined;
  const { calls } = run;
  if (children.length === 0) return calls.oldest;
  const dispatching = new Set<Call<H>>();
  let unplaced = 0;
  for (const { parentCallId } of children) {
    if (parentCallId === undefined) unplaced++;
    else {
      const call = calls.newestOf(parentCallId);
      if (call !== undefined) dispatching.add(call);
    }
  }
  for (let call = calls.oldest; call !== undefined; call = call.next) {
    if (!dispatching.has(call) && unplaced-- <= 0) return call;
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
 * Up to this difference, in ms, the clocks of sender and receiver count as equal. The receiver's is noted
 * every 5 s (`RunKeeper.tick`), so that a smaller difference says nothing.
 */
const SAME_CLOCK_MS = 10_000;

/**
 * By how much the events of a tree come later than they say, in ms; below 0 where their sender's clock
 * is ahead. In a replay and in services: than the newest event of all.
 */
export function delayOf<H>({ activityAt, lastAt }: Tree<H>): number {
  if (activityAt === undefined) return 0;
  const ms = millisecondsBetween(lastAt, activityAt);
  return Math.abs(ms) > SAME_CLOCK_MS ? ms : 0;
}

/**
 * How long a run has been silent, in ms from 0: since its last event, and the last start or end of a
 * child of its own.
 *
 * It is the time since events came in, as it is for `maxAgeMs`: a sender whose clock is wrong, or
 * whose events come late, must not look stalled. A run holds no such time, only its tree does, so the
 * delay of the tree's last event is taken for that of the run's.
 *
 * @param delay that of the run's tree.
 */
export function idleMs<H>({ lastAt, tree }: Run<H>, now: Instant, delay: number): number {
  // A tree whose clock is ahead counts as active at the time of this process (`RunKeeper.tick`), its runs don't.
  const last = compareInstants(lastAt, tree.lastAt) > 0 ? tree.lastAt : lastAt;
  return Math.max(millisecondsBetween(last, now) - delay, 0);
}
