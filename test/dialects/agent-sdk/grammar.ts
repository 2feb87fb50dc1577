import fc from "fast-check";
import type { JsonObject } from "../../../src/dialects/dialect.ts";
import { formatRfc3339 } from "../../../src/events/rfc3339.ts";
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

const run = fc
  .record({ prompt: fc.boolean(), turns: fc.array(turn, { minLength: 1, maxLength: 3 }), terminal })
  .map(({ prompt, turns, terminal: end }): JsonObject[] => [
    ...(prompt ? [{ type: "user_input", thread_id: "th", content: [] }] : []),
    ...turns.flatMap((each, n) => [
      { type: "start", thread_id: "th", turn: n + 1 },
      ...each.retries,
      ...each.outputs,
      ...each.tools.flat(),
      { type: "turn_complete", turn: n + 1, usage: USAGE },
    ]),
    ...(typeof end === "function" ? end(turns.length + 1) : end),
  ]);

/** One thread's runs, one after the other. */
const thread = fc.array(run, { minLength: 1, maxLength: 3 }).map((runs) => runs.flat());

/** Numbers lines as upstream does: a second apart, each with an id of its own. */
function numbered(events: readonly JsonObject[], prefix: string, from: number): JsonObject[] {
  return events.map((event, n) => ({
    event_id: `${prefix}${n}`,
    sequence: n,
    timestamp: formatRfc3339([1_780_653_600 + from + n, 0]),
    ...event,
  }));
}

/** Streams as upstream writes them. */
export const intact = thread.map((events) => numbered(events, "e", 0));

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
    const queues = threads.map((events, n) =>
      numbered(events, `${n}-`, n).map((line) => withThread(line, `th-${n}`, named)),
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
