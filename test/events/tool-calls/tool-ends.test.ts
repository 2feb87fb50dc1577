import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Instant } from "../../../src/events/instant.ts";
import {
  failedTools,
  type ToolEnd,
  withToolEnd,
} from "../../../src/events/tool-calls/tool-ends.ts";
import { runs } from "../../support/runs.ts";

interface End {
  readonly tool: string;
  readonly at: Instant;
  readonly failed: boolean;
}

function noted(ends: readonly End[]): ToolEnd | undefined {
  let list: ToolEnd | undefined;
  for (const { at, failed, tool } of ends) list = withToolEnd(list, tool, at, failed);
  return list;
}

const end = fc.record({
  tool: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
  at: fc.tuple(fc.constantFrom(1_777_464_000, 1_777_464_001), fc.constantFrom(0, 5, 999_999_999)),
  failed: fc.boolean(),
});

/** By the words of the promise: of the ends of a tool the last one counts, and of two at once a success. */
function expected(ends: readonly End[]): string[] {
  const isAfter = (a: End, b: End) => a.at[0] - b.at[0] || a.at[1] - b.at[1];
  return [...new Set(ends.map(({ tool }) => tool))].sort().filter((tool) => {
    const own = ends.filter((one) => one.tool === tool);
    const last = own.filter((one) => own.every((other) => isAfter(one, other) >= 0));
    return last.every(({ failed }) => failed);
  });
}

describe("the last ends of a run's tools", () => {
  it("are the same in whatever order, and however often, they are told", () => {
    const cases = fc
      .array(end, { maxLength: 30 })
      .chain((ends) =>
        fc.tuple(
          fc.constant(ends),
          fc.shuffledSubarray(ends, { minLength: ends.length }),
          fc.subarray(ends),
        ),
      );
    fc.assert(
      fc.property(cases, ([ends, shuffled, again]) => {
        expect(failedTools(noted([...shuffled, ...again]))).toEqual(expected(ends));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("are those of eight tools, and a success makes room for a failure", () => {
    const at: Instant = [1, 0];
    const of = (tool: string, failed: boolean) => ({ tool, at, failed });
    const names = Array.from({ length: 8 }, (_, n) => `tool ${n}`);
    const full = names.map((name, n) => of(name, n > 0));
    expect(failedTools(noted([...full, of("tool 8", true)]))).toEqual([
      ...names.slice(1),
      "tool 8",
    ]);
    const failing = names.map((name) => of(name, true));
    expect(failedTools(noted([...failing, of("tool 8", true), of("tool 9", false)]))).toEqual(
      names,
    );
  });
});
