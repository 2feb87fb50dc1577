import fc from "fast-check";
import {
  call,
  cancelled,
  checkpoint,
  errorRow,
  failedResult,
  interrupt,
  line,
  reply,
  result,
  resumed,
  subAgent,
  terminal,
  thinking,
  user,
} from "./log-lines.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What happens in a turn, one after the other. */
export type Step =
  | { readonly step: "reply"; readonly thoughts: number }
  | { readonly step: "call"; readonly id: string; readonly fails: boolean; readonly inside: Step[] }
  | { readonly step: "point"; readonly kind: number };

export type Ending =
  | "answered"
  | "cancelled"
  | "paused"
  | "terminal"
  | "limit"
  | "error"
  | "cut"
  | "left";

export interface Turn {
  readonly message: boolean;
  readonly steps: readonly Step[];
  readonly ending: Ending;
}

const ids = fc.constantFrom("c1", "c2", "search#0", "");

const point = fc.record({ step: fc.constant("point" as const), kind: fc.nat(7) });
const modelCall = fc.record({ step: fc.constant("reply" as const), thoughts: fc.nat(2) });

function steps(depth: number): fc.Arbitrary<Step[]> {
  const inside = depth === 0 ? fc.constant<Step[]>([]) : steps(depth - 1);
  const toolCall: fc.Arbitrary<Step> = fc.record({
    step: fc.constant("call" as const),
    id: ids,
    fails: fc.boolean(),
    inside: fc.oneof(
      { weight: 3, arbitrary: fc.constant<Step[]>([]) },
      { weight: 1, arbitrary: inside },
    ),
  });
  return fc.array(fc.oneof(modelCall, toolCall, toolCall, point), { maxLength: 4 });
}

const ending: fc.Arbitrary<Ending> = fc.constantFrom(
  "answered",
  "cancelled",
  "paused",
  "terminal",
  "limit",
  "error",
  "cut",
  "left",
);

export const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.record({ message: fc.constant(true), steps: steps(2), ending }),
  { minLength: 1, maxLength: 3 },
);

export const points: readonly Fields[] = [
  { kind: "context_compacted", dropped_chars: 10, retained_chars: 5 },
  { kind: "branch_created", branch_id: "b", parent_event: 1 },
  checkpoint("cp"),
  { kind: "warning", warning: { kind: "provider_extension_ignored", vendor: "v" } },
  { kind: "rate_limit", snapshot: { requests_remaining: 1 } },
  { kind: "agent_handoff", from: null, to: "writer" },
  { kind: "memory_recall", tier: "t", namespace_key: "n", hits: 0 },
  { kind: "brand_new", more: 1 },
];

/** What the spans of a thread must be, counted from its plan alone. */
export interface Drawn {
  /** Outcomes of the turns, in their order. */
  readonly turns: string[];
  /** Outcomes of the sub-agents, in the order of their start. */
  readonly subAgents: string[];
  chats: number;
  /** Outcomes of the tool calls. */
  readonly calls: string[];
}

export interface PlayedThread {
  readonly lines: string[];
  readonly drawn: Drawn;
}

const LIMIT: Fields = {
  kind: "usage_limit_exceeded",
  breach: { axis: "requests", limit: 1, observed: 1 },
};

/**
 * Writes the log of one thread.
 *
 * @param clock hands out the times, each used once, so that nothing depends on ties.
 */
export function play(
  plan: readonly Turn[],
  thread: { readonly tenant_id: string; readonly thread_id: string },
  clock: () => number,
): PlayedThread {
  const lines: string[] = [];
  const drawn: Drawn = { turns: [], subAgents: [], chats: 0, calls: [] };
  const write = (event: Fields) => {
    const sequence = lines.length;
    const event_id = `${thread.thread_id}-${sequence}`;
    lines.push(line(clock(), event, { ...thread, event_id, sequence }));
  };
  const perform = (all: readonly Step[]) => {
    for (const each of all) {
      switch (each.step) {
        case "reply":
          for (let n = 0; n < each.thoughts; n++) write(thinking());
          write(reply("wanted"));
          drawn.chats++;
          break;
        case "call": {
          const agents = each.inside.length > 0;
          const name = agents ? `agent-${drawn.subAgents.length}` : "fetch";
          write(call(each.id, name));
          if (agents) {
            drawn.subAgents.push(each.fails ? "failed unclassified" : "complete");
            write(subAgent(name, `${name}-log`));
            perform(each.inside);
          }
          write(each.fails ? failedResult(each.id, { name }) : result(each.id, { name }));
          drawn.calls.push(each.fails ? "error" : "complete");
          break;
        }
        case "point":
          write(points[each.kind] ?? {});
          break;
        default:
          each satisfies never;
      }
    }
  };
  for (const { ending: end, steps: all } of plan) {
    write(user());
    perform(all);
    switch (end) {
      case "answered":
        write(reply());
        drawn.chats++;
        drawn.turns.push("complete");
        break;
      case "cancelled":
        write(call("open"));
        write(cancelled);
        drawn.calls.push("unfinished");
        drawn.turns.push("failed cancelled");
        break;
      case "paused":
        write(interrupt);
        write(checkpoint("cp-pause"));
        drawn.turns.push("interrupted");
        break;
      case "terminal":
        write(call("last"));
        write(terminal);
        write(failedResult("last"));
        drawn.calls.push("error");
        drawn.turns.push("failed tool_error_terminal");
        break;
      case "limit":
        write(LIMIT);
        drawn.turns.push("failed usage_limit_exceeded");
        break;
      case "error":
        write(errorRow("provider"));
        drawn.turns.push("failed model_dispatch");
        break;
      case "cut":
        write(call("open"));
        drawn.calls.push("unfinished");
        drawn.turns.push("abandoned");
        break;
      case "left":
        write(reply("wanted"));
        drawn.chats++;
        drawn.turns.push("abandoned");
        break;
      default:
        end satisfies never;
    }
  }
  return { lines, drawn };
}

const envelope = fc.record(
  {
    tenant_id: fc.constantFrom("acme", "globex"),
    thread_id: fc.constantFrom("th-1", "th-2"),
    run_id: fc.constantFrom(null, "r1", "018f3c7a-0000-7000-8000-000000000002", ""),
    trace_id: fc.constantFrom("018f3c7a000070008000000000000002", "a".repeat(32), "short"),
    ordinal: fc.integer({ min: 1, max: 9 }),
    event_id: fc.constantFrom("e1", "e2", "e3", "e4", "e5", "e6"),
  },
  { requiredKeys: [] },
);

const names = fc.constantFrom("fetch", "team", "crew");

const anyEvent: fc.Arbitrary<Fields> = fc.oneof(
  fc.constantFrom<Fields[]>(
    user(),
    reply(),
    reply("c1", "c2"),
    thinking(),
    cancelled,
    interrupt,
    terminal,
    LIMIT,
    errorRow("serde"),
    errorRow("?"),
    resumed(),
    resumed("cp"),
    { erased: true, kind: "tool_call" },
    { erased: true, kind: "user_message" },
    ...points,
  ),
  fc.tuple(ids, names).map(([id, name]) => call(id, name)),
  fc.tuple(ids, names).map(([id, name]) => result(id, { name })),
  fc.tuple(ids, names).map(([id, name]) => failedResult(id, { name })),
  fc.tuple(names, fc.constantFrom("th-1", "th-2", "sub")).map(([name, to]) => subAgent(name, to)),
);

/** Lines without sense: any event, in any place, at any time. */
export const chaos: fc.Arbitrary<string[]> = fc.array(
  fc.tuple(fc.nat(40), anyEvent, envelope).map(([at, event, around]) => line(at, event, around)),
  { maxLength: 60 },
);
