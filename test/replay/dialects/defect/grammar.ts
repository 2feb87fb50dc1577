import fc from "fast-check";
import type { LeafEvent } from "../../../../src/replay/dialects/defect/events.ts";
import { ALLOW, REJECT, say } from "./session.ts";

/** One event of a session: who says what. */
export interface Said {
  readonly path: readonly string[];
  readonly event: LeafEvent;
  /** The turn it is of, which the wire does not tell. */
  readonly turn?: object;
}

/** Few ids, so that they come again: in later steps, on other levels. */
const CALL_IDS = ["t1", "t2", "", "a/b"];
/** Sub-agents are made to this depth. */
const DEEPEST = 2;

const own = (path: readonly string[], ...events: readonly LeafEvent[]): Said[] =>
  events.map((event) => ({ path, event }));

/** The attempts of one model call; whether it succeeded. */
const modelCall = (path: readonly string[]): fc.Arbitrary<{ said: Said[]; good: boolean }> =>
  fc
    .record({ failures: fc.integer({ min: 0, max: 2 }), good: fc.boolean(), text: fc.boolean() })
    .map(({ failures, good, text }) => {
      const events: LeafEvent[] = [];
      for (let attempt = 1; attempt <= failures; attempt++) {
        events.push(say.asks(attempt), say.failed("503", attempt));
      }
      if (!good && failures > 0) return { said: own(path, ...events), good };
      events.push(say.asks(failures + 1));
      if (text) events.push(say.thought("hm"), say.text("yes"));
      if (good) events.push(say.answered(failures + 1, { input_tokens: 1, output_tokens: 1 }));
      return { said: own(path, ...events), good };
    });

const denied = (id: string): LeafEvent[] => [say.refused(id), say.broke(id, "denied")];

/** A tool call: how it is decided upon, which is done call by call, and how it runs, side by side. */
interface CallParts {
  readonly decided: Said[];
  readonly runs: Said[];
  readonly later: Said[];
}

const plainCall = (path: readonly string[], id: string): fc.Arbitrary<CallParts> =>
  fc
    .record({
      way: fc.constantFrom("allow", "deny", "given", "refused", "none", "unknown"),
      end: fc.constantFrom(say.done(id), say.broke(id)),
    })
    .map(({ end, way }) => {
      const decided = (...events: LeafEvent[]) => ({ decided: own(path, ...events) });
      const ran = { runs: own(path, say.progress(id), end), later: [] };
      const never = { runs: [], later: [] };
      switch (way) {
        case "deny":
          return { ...decided(say.tool(id), say.policy(id, "deny"), ...denied(id)), ...never };
        case "none":
          return { ...decided(say.tool(id), say.asked(id, []), ...denied(id)), ...never };
        case "refused":
          return {
            ...decided(say.tool(id), say.asked(id), say.chosen(id, "n"), ...denied(id)),
            ...never,
          };
        case "unknown":
          return { ...decided(...denied(id)), ...never };
        case "given":
          return {
            ...decided(say.tool(id), say.asked(id, [ALLOW, REJECT]), say.chosen(id, "y")),
            ...ran,
          };
        default:
          return { ...decided(say.tool(id), say.policy(id, "allow")), ...ran };
      }
    });

/** A call that spawns a sub-agent: before its end, or, in the background, long after. */
const spawn = (path: readonly string[], id: string): fc.Arbitrary<CallParts> =>
  fc.tuple(turn([...path, id]), fc.boolean()).map(([{ later, said }, background]) => {
    const decided = own(path, say.tool(id, "spawn_agent"), say.policy(id, "allow"));
    const end = own(path, say.done(id));
    return background
      ? { decided, runs: end, later: [...said, ...later] }
      : { decided, runs: [...said, ...end], later };
  });

/** Puts lists together so that each keeps its order. */
function interleave(lists: readonly (readonly Said[])[], picks: readonly number[]): Said[] {
  const waiting = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const all: Said[] = [];
  for (let n = 0; waiting.length > 0; n++) {
    const at = (picks[n % Math.max(1, picks.length)] ?? 0) % waiting.length;
    const next = waiting[at]?.shift();
    if (next !== undefined) all.push(next);
    if (waiting[at]?.length === 0) waiting.splice(at, 1);
  }
  return all;
}

const picks = fc.array(fc.nat(7), { minLength: 1, maxLength: 12 });

/** One step: a model call, then the tools it asked for, each with an id of its own. */
const step = (path: readonly string[]): fc.Arbitrary<{ said: Said[]; later: Said[] }> =>
  fc
    .subarray(CALL_IDS, { maxLength: 3 })
    .chain((ids) =>
      fc.tuple(
        modelCall(path),
        fc.tuple(
          ...ids.map((id, n) =>
            n === 0 && path.length < DEEPEST
              ? fc.oneof(plainCall(path, id), spawn(path, id))
              : plainCall(path, id),
          ),
        ),
        picks,
      ),
    )
    .map(([model, calls, order]) => {
      if (!model.good) return { said: model.said, later: [] };
      const decided = calls.flatMap((call) => call.decided);
      const runs = interleave(
        calls.map((call) => call.runs),
        order,
      );
      const later = calls.flatMap((call) => call.later);
      return { said: [...model.said, ...decided, ...runs], later };
    });

/** A turn as upstream tells it; `later` is of sub-agents in the background. */
export const turn = (path: readonly string[]): fc.Arbitrary<{ said: Said[]; later: Said[] }> =>
  fc
    .tuple(
      fc.array(step(path), { maxLength: path.length === 0 ? 3 : 1 }),
      fc.constantFrom(
        say.ended(),
        say.ended("max_tokens"),
        say.ended("refusal"),
        say.ended("cancelled"),
        say.ended("max_turn_requests"),
        say.aborted(),
        undefined,
      ),
      fc.boolean(),
    )
    .map(([steps, end, compacts]) => {
      const turn = {};
      const said = [
        ...own(path, say.prompt(), say.started()),
        ...steps.flatMap(({ said }) => said),
        ...(compacts ? own(path, say.compacted(100, 10)) : []),
        // A hook that breaks the turn ends it without a word.
        ...(end === undefined ? [] : own(path, end)),
      ];
      return {
        // What sub-agents said is of turns of their own already.
        said: said.map((one) => ({ turn, ...one })),
        later: steps.flatMap(({ later }) => later),
      };
    });

/**
 * Whether two sub-agents with the same path speak at once: one runs on in the background, and a later
 * turn spawns another with the same call id. Nothing on the wire tells their events apart.
 */
export function isMixed(said: readonly Said[]): boolean {
  const current = new Map<string, object>();
  const over = new Set<object>();
  for (const { path, turn } of said) {
    if (turn === undefined) continue;
    const key = JSON.stringify(path);
    const before = current.get(key);
    if (before === turn) continue;
    if (over.has(turn)) return true;
    if (before !== undefined) over.add(before);
    current.set(key, turn);
  }
  return false;
}

/** A session of some turns, with its background sub-agents running on into later turns. */
export const session: fc.Arbitrary<Said[]> = fc
  .tuple(fc.array(turn([]), { minLength: 1, maxLength: 3 }), picks)
  .map(([turns, order]) => {
    let background: readonly Said[] = [];
    const all: Said[] = [];
    for (const { later, said } of turns) {
      all.push(...interleave([said, background], order));
      background = later;
    }
    return [...all, ...own([], say.compacted(50, 20)), ...background];
  });

/** What may go wrong with a recording. */
export type Damage =
  | { readonly kind: "lose"; readonly at: number }
  | { readonly kind: "repeat"; readonly at: number }
  | { readonly kind: "move"; readonly at: number; readonly by: number }
  | { readonly kind: "cut_head"; readonly at: number }
  | { readonly kind: "cut_tail"; readonly at: number };

export const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("lose" as const), at: fc.nat(200) }),
    fc.record({ kind: fc.constant("repeat" as const), at: fc.nat(200) }),
    fc.record({ kind: fc.constant("move" as const), at: fc.nat(200), by: fc.nat(20) }),
    fc.record({ kind: fc.constant("cut_head" as const), at: fc.nat(60) }),
    fc.record({ kind: fc.constant("cut_tail" as const), at: fc.nat(60) }),
  ),
  { maxLength: 12 },
);

/** A recording with the damage done to it, one after the other. */
export function damaged<T>(recording: readonly T[], damage: readonly Damage[]): T[] {
  const left = [...recording];
  for (const one of damage) {
    if (left.length === 0) break;
    const at = one.at % left.length;
    const item = left[at];
    if (item === undefined) continue;
    switch (one.kind) {
      case "lose":
        left.splice(at, 1);
        break;
      case "repeat":
        left.splice(at, 0, item);
        break;
      case "move":
        left.splice(at, 1);
        left.splice(Math.min(left.length, at + one.by), 0, item);
        break;
      case "cut_head":
        left.splice(0, at);
        break;
      case "cut_tail":
        left.splice(left.length - at, at);
        break;
      default:
        one satisfies never;
    }
  }
  return left;
}
