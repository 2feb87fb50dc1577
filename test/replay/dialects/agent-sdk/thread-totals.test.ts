import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { lines, Reader, start, text, turnComplete } from "./reader.ts";

/** Ten tokens in and two out for each turn, as `turnComplete` has them. */
const spent = (turns: number, more = 0) => ({
  input_tokens: 10 * turns + more,
  output_tokens: 2 * turns,
  cached_input_tokens: turns,
});
const done = (turns: number, more: JsonObject = {}): JsonObject => ({
  type: "done",
  thread_id: "th",
  total_turns: turns,
  total_usage: spent(turns),
  duration_ms: 1,
  ...more,
});
const turn = (n: number): JsonObject[] => [start(n), text(), turnComplete(n)];

/** What each run of a stream used: turns, tokens in, out and cached, and cost. */
function used(reader: Reader): unknown[] {
  return reader.end().signals.flatMap((signal) => {
    if (signal.signal !== "run_closes") return [];
    const { end } = signal;
    const { usage = {}, attributes = {} } = end;
    return [
      [
        attributes["entelix.run.turns"],
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cost_usd,
      ],
    ];
  });
}

function read(...events: readonly JsonObject[]): Reader {
  return new Reader().read(...lines(...events));
}

describe("sums that an agent counts over all runs of its thread", () => {
  it("are told of each run without what came before it", () => {
    const first = [...turn(1), ...turn(2), done(2, { estimated_cost_usd: 0.1 })];
    // Of which five tokens went into a compaction.
    const second = [
      ...turn(3),
      done(3, { total_usage: spent(3, 5), estimated_cost_usd: 0.30000000000000004 }),
    ];
    expect(used(read(...first, ...second))).toEqual([
      [2, 20, 4, 2, "0.1"],
      [1, 15, 2, 1, "0.2"],
    ]);
  });

  it("are so whatever the runs end with", () => {
    const budget = { ...done(2), type: "budget_exceeded", limit: "total_tokens" };
    const cancelled: JsonObject = { type: "cancelled", turn: 3, usage: spent(3) };
    const error: JsonObject = { type: "error", message: "boom", recoverable: false };
    const refused = { ...budget, event_id: "refused", sequence: 0 };
    expect(
      used(
        read(
          ...turn(1),
          error,
          ...turn(2),
          budget,
          refused,
          ...turn(3),
          cancelled,
          ...turn(4),
          done(4),
        ),
      ),
    ).toEqual([
      [undefined, undefined, undefined, undefined, undefined],
      // The ends of turns name no cached tokens here, so those of the error's turn are left to this run.
      [1, 10, 2, 2, undefined],
      [0, 0, 0, 0, undefined],
      [1, 10, 2, 1, undefined],
      [1, 10, 2, 1, undefined],
    ]);
  });

  it("are what its turns used where the beginning of the thread was not seen", () => {
    expect(used(read(...turn(8), ...turn(9), done(9, { estimated_cost_usd: 4 })))).toEqual([
      [2, 20, 4, 0, undefined],
    ]);
  });

  it("are the run's where they do not hold what came before, as of agents of 0.9", () => {
    expect(used(read(...turn(1), done(1), ...turn(1), done(1)))).toEqual([
      [1, 10, 2, 1, undefined],
      [1, 10, 2, 1, undefined],
    ]);
    expect(used(read(...turn(1), done(1), ...turn(2), done(1, { total_turns: 2 })))).toEqual([
      [1, 10, 2, 1, undefined],
      [2, 10, 2, 1, undefined],
    ]);
  });

  it("are told as they are where the beginning of the run was not seen", () => {
    expect(used(read(text(), turnComplete(3), ...turn(4), done(4)))).toEqual([
      [4, 40, 8, 4, undefined],
    ]);
  });
});
