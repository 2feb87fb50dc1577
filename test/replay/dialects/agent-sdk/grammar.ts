import fc from "fast-check";
import { formatRfc3339 } from "../../../../src/events/door.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { call, confirm, ENDED, result, USAGE } from "./reader.ts";

/** What one turn of a run says, in upstream's order. */
const output = fc.constantFrom<JsonObject>(
  { type: "thinking_delta", message_id: "t", delta: "p" },
  { type: "thinking", message_id: "t", text: "plan" },
  { type: "text_delta", message_id: "m", delta: "h" },
  { type: "text", message_id: "m", text: "hi" },
  { type: "context_compacted", original_count: 2, new_count: 1, original_tokens: 9, new_tokens: 1 },
);

const retryStart: JsonObject = {
  type: "auto_retry_start",
  attempt: 1,
  max_attempts: 3,
  delay_ms: 5,
  error_message: "503",
};

/** Retries that helped. */
const retries = fc
  .integer({ min: 1, max: 3 })
  .map((starts): JsonObject[] => [
    ...Array.from({ length: starts }, (_, n) => ({ ...retryStart, attempt: n + 1 })),
    { type: "auto_retry_end", attempt: starts, success: true, final_error: null },
  ]);

/** A turn whose retries did not help, and with it the run. */
const usedUp = (turn: number): JsonObject[] => [
  { type: "start", thread_id: "th", turn },
  retryStart,
  { type: "auto_retry_end", attempt: 1, success: false, final_error: "503" },
  { type: "error", message: "503", recoverable: true },
];

/** An agent that waits for further prompts, and gets none: the last turn once more, with the sums. */
const parked = (turn: number): JsonObject[] => [
  {
    type: "turn_complete",
    turn: turn - 1,
    usage: { input_tokens: 999 * turn, output_tokens: 999 * turn },
  },
];

const success = fc.boolean();
/** Few ids, so that they come again. */
const id = fc.constantFrom("", "tu_1", "tu_2", "tu_3");

const tool = fc.oneof(
  fc.tuple(id, success).map(([at, ok]) => [call(at), result(at, { success: ok })]),
  fc.tuple(id, id).map(([a, b]) => [call(a), call(b), result(b), result(a)]),
  fc
    .tuple(id, success)
    .map(([at, ok]) => [
      call(at),
      { type: "tool_progress", id: at, name: "bash", display_name: "", stage: "", message: "" },
      result(at, { success: ok }),
    ]),
  fc
    .tuple(id, success, success)
    .map(([at, ok, data]) => [
      call(at, "subagent_explore"),
      childProgress,
      { ...childProgress, completed: true },
      result(at, { success: ok, data: data ? { duration_ms: 7 } : null }, "subagent_explore"),
    ]),
  fc
    .tuple(id, success)
    .map(([at, ok]) => [
      call(at),
      confirm(at),
      result(at, ok ? {} : { success: false, output: "Rejected: no", duration_ms: null }),
    ]),
);

const childProgress: JsonObject = {
  type: "subagent_progress",
  subagent_id: "explore_1",
  subagent_name: "explore",
  child_thread_id: "child-1",
  tool_name: "",
  tool_context: "",
  completed: false,
  success: false,
  tool_count: 0,
  total_tokens: 0,
};

const turn = fc.record({
  retries: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, retries),
  outputs: fc.array(output, { maxLength: 3 }),
  tools: fc.array(tool, { maxLength: 2 }),
});

/** Each way a run ends, the ways in which it just stops among them. */
const terminal = fc.constantFrom<readonly JsonObject[] | typeof usedUp>(
  usedUp,
  parked,
  [{ type: "done", ...ENDED }],
  [{ type: "refusal", message_id: "m", text: "No." }],
  [{ type: "cancelled", turn: 1, usage: USAGE }],
  [{ type: "budget_exceeded", ...ENDED, limit: "total_tokens" }],
  [{ type: "error", message: "boom", recoverable: true }],
  [{ type: "error", message: "boom", recoverable: false, reason: { reason: "provider_error" } }],
  [call("last"), confirm("last")],
  [{ type: "question_asked", task_id: "t", questions: [] }],
  [],
);

/** A turn that a guardrail sends back, and one that waits for two humans, each in a call of the agent. */
const sentBack = (turn: number): JsonObject[][] => [
  [
    { type: "text", message_id: "m", text: "no" },
    { type: "error", message: "rejected by guardrail", recoverable: true },
    { type: "turn_complete", turn, usage: USAGE },
  ],
];
const askedTwice = (turn: number): JsonObject[][] => [
  [call("ask_1"), confirm("ask_1"), call("ask_2"), confirm("ask_2")],
  [result("ask_1"), call("ask_2"), confirm("ask_2")],
  [result("ask_2"), { type: "turn_complete", turn, usage: USAGE }],
];
const special = fc.constantFrom(undefined, undefined, undefined, sentBack, askedTwice);

interface Run {
  readonly prompt: boolean;
  /** What its agent says, each time that it is called. */
  readonly calls: (turnsBefore: number) => JsonObject[][];
  readonly turns: number;
  /** Whether it is seen to be over, or that it may be. */
  readonly ends: boolean;
}

const run = fc
  .record({
    prompt: fc.boolean(),
    turns: fc.array(fc.tuple(turn, special), { minLength: 1, maxLength: 3 }),
    terminal,
  })
  .map(
    ({ prompt, turns, terminal: end }): Run => ({
      prompt,
      turns: turns.length,
      ends: typeof end === "function" || end.length > 0,
      calls: (before) => {
        const calls: JsonObject[][] = [[]];
        turns.forEach(([each, how], n) => {
          const number = before + n + 1;
          const [first = [], ...more] = how?.(number) ?? [
            [
              ...each.outputs,
              ...each.tools.flat(),
              { type: "turn_complete", turn: number, usage: USAGE },
            ],
          ];
          calls.at(-1)?.push({ type: "start", thread_id: "th", turn: number }, ...each.retries);
          calls.at(-1)?.push(...first);
          calls.push(...more);
        });
        calls.at(-1)?.push(...(typeof end === "function" ? end(before + turns.length + 1) : end));
        return calls;
      },
    }),
  );

const OF_TASK: ReadonlySet<unknown> = new Set([
  "start",
  "turn_complete",
  "done",
  "budget_exceeded",
  "error",
  "cancelled",
  "thinking",
  "thinking_delta",
  "text_delta",
  "text",
]);

/** In a server these name the task that they are of. */
function ofTask(events: readonly JsonObject[], task: string): JsonObject[] {
  return events.map((event) =>
    OF_TASK.has(event.type) ? { ...event, emitter_task_id: task } : event,
  );
}

const PROMPT: JsonObject = { type: "user_input", thread_id: "th", content: [] };

/**
 * One thread's runs, one after the other, as the calls of its agent. Agents of later versions number
 * the turns of a thread on: there a prompt, or the end of the run before, tells that a run begins.
 */
const thread = fc
  .record({
    runs: fc.array(run, { minLength: 1, maxLength: 3 }),
    numbersOn: fc.boolean(),
    restarts: fc.boolean(),
    tasks: fc.boolean(),
  })
  .map(({ runs, numbersOn, restarts, tasks }) => {
    let turns = 0;
    let over = true;
    const calls = runs.flatMap((each, n) => {
      const output = each.calls(numbersOn ? turns : 0);
      const [first = [], ...more] = tasks
        ? output.map((call) => ofTask(call, `task-${n}`))
        : output;
      const prompted = each.prompt || (numbersOn && !(restarts && over));
      turns += each.turns;
      over = each.ends;
      return [prompted ? [PROMPT, ...first] : first, ...more];
    });
    return { calls, restarts, runs: runs.length };
  });

interface Calls {
  readonly calls: readonly (readonly JsonObject[])[];
  /** Whether each call of the agent numbers its events from 0. */
  readonly restarts: boolean;
}

/** Numbers lines as upstream does: a second apart, each with an id of its own. */
function numbered({ calls, restarts }: Calls, prefix: string, from: number): JsonObject[] {
  let n = 0;
  return calls.flatMap((events) => {
    const before = restarts ? n : 0;
    return events.map((event) => {
      const line = {
        event_id: `${prefix}${n}`,
        sequence: n - before,
        timestamp: formatRfc3339([1_780_653_600 + from + n, 0]),
        ...event,
      };
      n += 1;
      return line;
    });
  });
}

/** Streams as upstream writes them, and how many runs they are. */
export const intact = thread.map((calls) => ({
  lines: numbered(calls, "e", 0),
  runs: calls.runs,
}));

/** The same with lines lost, repeated, swapped, cut off at either end, of threads mixed with others. */
export const broken: fc.Arbitrary<readonly JsonObject[]> = fc
  .record({
    threads: fc.array(thread, { minLength: 1, maxLength: 3 }),
    named: fc.boolean(),
    ids: fc.boolean(),
    head: fc.integer({ min: 0, max: 5 }),
    tail: fc.integer({ min: 0, max: 5 }),
    faults: fc.array(
      fc.record({
        kind: fc.constantFrom("lose", "repeat", "swap", "late"),
        at: fc.nat({ max: 99 }),
      }),
      { maxLength: 8 },
    ),
    mix: fc.array(fc.nat({ max: 2 }), { minLength: 5, maxLength: 20 }),
  })
  .map(({ threads, named, ids, head, tail, faults, mix }) => {
    const queues = threads.map((calls, n) =>
      numbered(calls, `${n}-`, n).map((line) => withThread(line, `th-${n}`, named)),
    );
    const lines = merged(queues, mix).slice(head);
    lines.splice(Math.max(0, lines.length - tail), tail);
    for (const { kind, at } of faults)
      breakAt(lines, kind, lines.length === 0 ? 0 : at % lines.length);
    return ids ? lines : lines.map(({ event_id: _id, ...line }) => line);
  });

/** Upstream names the thread in three types only; an operator may do it in all lines. */
function withThread(line: JsonObject, threadId: string, named: boolean): JsonObject {
  return named || line.thread_id !== undefined ? { ...line, thread_id: threadId } : line;
}

function merged(queues: JsonObject[][], mix: readonly number[]): JsonObject[] {
  const lines: JsonObject[] = [];
  for (let n = 0; queues.some((queue) => queue.length > 0); n += 1) {
    const from = queues[(mix[n % mix.length] ?? 0) % queues.length];
    const queue = from?.length ? from : queues.find((each) => each.length > 0);
    lines.push(...(queue?.splice(0, 3) ?? []));
  }
  return lines;
}

function breakAt(lines: JsonObject[], kind: string, at: number): void {
  const line = lines[at];
  if (line === undefined) return;
  if (kind === "lose") lines.splice(at, 1);
  else if (kind === "repeat") lines.splice(at, 0, line);
  else {
    lines.splice(at, 1);
    lines.splice(kind === "swap" ? at + 1 : at + 20, 0, line);
  }
}
