import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { brief, lines, Reader, start, text, turnComplete } from "./reader.ts";

/** In place of `done`, with the sums of the run. */
const waits = (turn: number): JsonObject => ({
  ...turnComplete(turn),
  usage: { input_tokens: 10 * turn, output_tokens: 2 * turn },
});
const turn = (n: number): JsonObject[] => [start(n), text(), turnComplete(n)];

/** What becomes of the run, in the end. */
function ends(...events: readonly JsonObject[]): Record<string, unknown>[] {
  const { signals } = new Reader().read(...lines(...events)).end();
  return signals.filter(({ signal }) => /^run_(may_end|closes)$/.test(signal)).map(brief);
}

describe("an agent that waits for further prompts (`run_persistent`)", () => {
  it("has done what it was asked, if none come", () => {
    expect(ends(...turn(1), waits(1), ...turn(2), waits(2)).at(-1)).toEqual({
      at: "10:00:07Z",
      signal: "run_may_end",
      end: {
        outcome: "complete",
        usage: {
          input_tokens: 20,
          output_tokens: 4,
          cache_read_input_tokens: null,
          cache_write_input_tokens: null,
        },
        attributes: { "entelix.run.turns": 2 },
      },
    });
  });

  it("goes on with the run, which ends as it is told then", () => {
    const cancelled = { type: "cancelled", turn: 2, usage: waits(2).usage ?? null };
    expect(ends(...turn(1), waits(1), ...turn(2), cancelled)).toMatchObject([
      { signal: "run_may_end", end: { outcome: "complete" } },
      { signal: "run_closes", end: { outcome: "failed", kind: { type: "cancelled" } } },
    ]);
  });

  it("is not to be seen in the end of a turn that is only told twice", () => {
    const reader = new Reader().read(...lines(...turn(1), ...turn(2), turnComplete(2)));
    expect(reader.mapping.counts.lateEvents).toBe(1);
    expect(reader.signals.filter(({ signal }) => signal === "run_may_end")).toEqual([]);
  });
});
