import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewRun } from "../../../src/view/format.ts";
import { groupRows } from "../../../src/view/model/conversations.ts";
import { filterRows } from "../../../src/view/model/filter-rows.ts";
import { listQuery } from "../../../src/view/model/list-query.ts";
import { RunIndex, type RunRow } from "../../../src/view/model/run-index.ts";
import { MOST_SEARCH_TEXT } from "../../../src/view/model/search-text.ts";
import { storyLine } from "../../../src/view/model/story-words.ts";
import { atSecond, rowsOf, viewRun } from "./runs.ts";

function textsOf({ folded, sums = "", text }: RunRow): string[] {
  return [text, sums, ...(folded?.rows ?? []).flatMap(textsOf)];
}

const found = (rows: readonly RunRow[], address: string) =>
  filterRows(rows, listQuery(new URLSearchParams(address))).map(({ id }) => id);

/** Asked at 0 s, paused at 2 s, decided and continued at 10 s, done at 13 s. */
const PAUSED = viewRun("asked", {
  ...atSecond(0),
  end_ns: atSecond(2).start_ns,
  outcome: "interrupted",
  resumed: true,
  question: "Give me my money back!",
  asked: "refund",
  thread_id: "t1",
  user: "u7",
  tools: ["look_up"],
  tags: ["web"],
  model: "mini",
  working_ms: 2000,
  input_tokens: 100,
  output_tokens: 10,
  cost_usd: "0.1",
  spans: 4,
});
const RESUMED = viewRun("decided", {
  ...atSecond(10),
  end_ns: atSecond(13).start_ns,
  outcome: "complete",
  resumed_from: "asked",
  answer: "Sent.",
  tools: ["refund"],
  decisions: [
    { call_id: "c", tool: "refund", outcome: "edited", at_ms: 1, person: "ann", wait_ms: 7900 },
  ],
  working_ms: 3000,
  waiting_ms: 7900,
  input_tokens: 50,
  cost_usd: "0.2",
  spans: 3,
});

describe("a paused run and the one that continues it", () => {
  it("are one row: the newest outcome, the first question, decisions and sums", () => {
    const [row, ...others] = rowsOf(RESUMED, PAUSED);
    expect(others).toEqual([]);
    expect(row?.id).toBe("decided");
    expect(row?.run).toMatchObject({
      key: "decided",
      outcome: "complete",
      question: "Give me my money back!",
      answer: "Sent.",
      thread_id: "t1",
      user: "u7",
      model: "mini",
      tools: ["look_up", "refund"],
      tags: ["web"],
      decisions: RESUMED.decisions,
      working_ms: 5000,
      // From the pause to the continuation; the decision came a little earlier.
      waiting_ms: 8000,
      input_tokens: 150,
      output_tokens: 10,
      cost_usd: "0.3",
      spans: 7,
    });
    expect(row?.run.asked).toBeUndefined();
    expect(storyLine(row?.run ?? PAUSED)?.text).toBe("ann edited refund after 7.9 s. Sent.");
    expect(row?.folded).toEqual({ kind: "pauses", rows: rowsOf(PAUSED) });
  });

  it("are known as single runs, too: the page of each of them begins with its own story", () => {
    const index = new RunIndex();
    index.merge([PAUSED, RESUMED]);
    expect([index.run("decided"), index.run("asked")]).toEqual([RESUMED, PAUSED]);
    expect(index.run("other")).toBeUndefined();
  });

  it("hold at most the search texts of both, and that of their sums", () => {
    const long = (letter: string) => Array.from({ length: 12 }, () => letter.repeat(200));
    const rows = rowsOf(
      { ...PAUSED, tools: long("a"), tags: long("b"), cost_usd: "0.10001" },
      { ...RESUMED, tools: long("c"), tags: long("d") },
    );
    const held = new Set(rows.flatMap(textsOf));
    expect([...held].reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(
      2 * MOST_SEARCH_TEXT + 100,
    );
    for (const word of ["aaa", "ccc", "money", "sent.", "8.0", "150", "$0.3"]) {
      expect(found(rows, `q=${encodeURIComponent(word)}`)).toEqual(["decided"]);
    }
    const later = rowsOf(viewRun("later", { ...atSecond(20), thread_id: "t1" }));
    const [conversation] = groupRows([...later, ...rows]);
    expect(conversation?.folded?.kind).toBe("conversation");
    expect(found(conversation === undefined ? [] : [conversation], "q=money")).toHaveLength(1);
  });

  it("are found by what either of them says", () => {
    const rows = rowsOf(PAUSED, RESUMED);
    for (const word of ["money", "asked", "sent.", "ann"]) {
      expect(found(rows, `q=${word}`), word).toEqual(["decided"]);
    }
    expect(found(rows, "tool=look_up&tag=web&user=u7")).toEqual(["decided"]);
    expect(found(rows, "waiting=1")).toEqual([]);
  });

  it("wait again if the newest one does, and have no duration while it is open", () => {
    const again = { ...RESUMED, outcome: "interrupted", asked: "mail" } as const;
    expect(found(rowsOf(PAUSED, again), "waiting=1")).toEqual(["decided"]);
    const { working_ms: _, ...open } = { ...RESUMED, end_ns: null, outcome: "open" } as const;
    const [row] = rowsOf(PAUSED, open);
    expect([row?.run.outcome, row?.run.working_ms, row?.run.input_tokens]).toEqual([
      "open",
      undefined,
      150,
    ]);
  });

  it("have every model of their runs", () => {
    const [row] = rowsOf({ ...PAUSED, model: "x" }, { ...RESUMED, model: "y" });
    expect(row?.run.models).toEqual(["x", "y"]);
    const [same] = rowsOf({ ...PAUSED, model: "x" }, { ...RESUMED, model: "x" });
    expect(same?.run.models).toBeUndefined();
  });

  it("are of one tenant", () => {
    const other = viewRun("other", { resumed_from: "asked", tenant_id: "globex" });
    expect(rowsOf(PAUSED, other).map(({ id }) => id)).toEqual(["asked", "other"]);
  });

  it("hide the sub-runs of both", () => {
    const child = viewRun("child", { parent_run_id: "asked" });
    expect(found(rowsOf(PAUSED, RESUMED, child), "")).toEqual(["decided"]);
  });

  it("have the run on top that no other continues, whatever the clocks say", () => {
    const early = { ...RESUMED, start_ns: "1000000000" };
    expect(rowsOf(PAUSED, early).map(({ id }) => id)).toEqual(["decided"]);
  });

  it("wait for a person as long as one of several resumptions does", () => {
    const waits = { ...RESUMED, outcome: "interrupted" } as const;
    const again = viewRun("again", {
      ...atSecond(20),
      end_ns: atSecond(21).start_ns,
      outcome: "complete",
      resumed_from: "asked",
    });
    for (const rows of [rowsOf(PAUSED, waits, again), rowsOf(again, waits, PAUSED)]) {
      expect(found(rows, "waiting=1")).toEqual(["decided"]);
    }
    const gone = viewRun("done", { ...atSecond(30), outcome: "complete", resumed_from: "decided" });
    expect(found(rowsOf(PAUSED, { ...waits, resumed: true }, again, gone), "")).toEqual(["done"]);
  });

  it("have a decision and its wait once, though it is said again by who resumes again", () => {
    const mail = { call_id: "m", tool: "mail", outcome: "denied", at_ms: 2, by: "user" } as const;
    const refund = RESUMED.decisions ?? [];
    const later = (resumed_from: string) =>
      viewRun("later", {
        ...atSecond(15),
        end_ns: atSecond(16).start_ns,
        outcome: "complete",
        resumed_from,
        working_ms: 1000,
        waiting_ms: 7900,
        // Without an ID of the sender's, the call has another one in each run.
        decisions: [...refund.map((one) => ({ ...one, call_id: "other" })), mail],
      });
    const waits = { ...RESUMED, outcome: "interrupted", resumed: true } as const;
    // 8 s before the first resumption, and 2 s between both.
    for (const row of [
      ...rowsOf(PAUSED, waits, later("decided")),
      ...rowsOf(PAUSED, RESUMED, later("asked")),
    ]) {
      expect(row.run.decisions).toEqual([...refund, mail]);
      expect(row.run.waiting_ms).toBe(10_000);
    }
  });

  it("have both decisions about two calls with one ID, of two pauses", () => {
    const decisions = [
      { call_id: "call_0", tool: "pay", outcome: "approved", at_ms: 1, by: "user" },
    ];
    const rows = rowsOf(
      PAUSED,
      { ...RESUMED, decisions },
      viewRun("later", { ...atSecond(15), resumed_from: "decided", decisions }),
    );
    expect(rows[0]?.run.decisions).toHaveLength(2);
  });
});

interface Change {
  readonly run: ViewRun;
  /** Runs that began before this second are removed. */
  readonly removeBefore: number | undefined;
}

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc
    .record({
      name: fc.nat(7),
      tenant_id: fc.constantFrom("acme", "globex"),
      from: fc.option(fc.nat(7), { nil: undefined }),
      second: fc.nat(9),
      outcome: fc.constantFrom("interrupted", "complete", "failed"),
      removeBefore: fc.option(fc.nat(9), { nil: undefined, freq: 9 }),
    })
    .map(({ from, name, outcome, removeBefore, second, tenant_id }) => ({
      run: viewRun(`${tenant_id} ${name}`, {
        ...atSecond(second),
        run_id: `${name}`,
        tenant_id,
        outcome,
        ...(from === undefined ? {} : { resumed_from: `${from}` }),
      }),
      removeBefore,
    })),
  { maxLength: 25 },
);

describe("the rows of the list", () => {
  it("have each run in exactly one place, beside those that it is connected with", () => {
    fc.assert(
      fc.property(changes, (all) => {
        const runs = [...new Map(all.map(({ run }) => [run.key, run])).values()];
        const rows = rowsOf(...runs);
        const places = rows.map(({ folded, run }) => [
          run.key,
          ...(folded?.rows ?? []).map((below) => below.run.key),
        ]);
        expect(places.flat().toSorted()).toEqual(runs.map(({ key }) => key).toSorted());
        const sorted = (groups: readonly string[][]) =>
          groups.map((group) => group.toSorted().join()).toSorted();
        expect(sorted(places)).toEqual(sorted(connected(runs)));
      }),
    );
  });

  it("are the same whether the runs came at once or one by one, changed and were left out", () => {
    fc.assert(
      fc.property(changes, fc.integer({ min: 1, max: 4 }), (all, size) => {
        const index = new RunIndex();
        const latest = new Map<string, ViewRun>();
        for (let from = 0; from < all.length; from += size) {
          const part = all.slice(from, from + size);
          for (const { run } of part) latest.set(run.key, run);
          index.merge(part.map(({ run }) => run));
          const second = part.find(({ removeBefore }) => removeBefore !== undefined)?.removeBefore;
          if (second === undefined) continue;
          const { start_ns } = atSecond(second);
          index.removeBefore(start_ns);
          for (const run of latest.values()) {
            if (run.start_ns < start_ns) latest.delete(run.key);
          }
        }
        expect(byId(index.rows)).toEqual(byId(rowsOf(...latest.values())));
      }),
    );
  });

  it("of a change are computed for its story only", () => {
    const index = new RunIndex();
    index.merge([PAUSED, RESUMED, viewRun("alone")]);
    const before = byId(index.rows);
    index.merge([{ ...RESUMED, outcome: "failed" }]);
    const after = byId(index.rows);
    expect(after.map(({ id }) => id)).toEqual(["alone", "decided"]);
    expect(after[0]).toBe(before[0]);
    expect(after[1]?.run.outcome).toBe("failed");
    expect(after[1]?.folded?.rows[0]).toBe(before[1]?.folded?.rows[0]);
  });
});

function byId(rows: readonly RunRow[]): readonly RunRow[] {
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Keys of runs that are connected by resumptions, in the plainest way. */
function connected(runs: readonly ViewRun[]): string[][] {
  const groupOf = new Map(runs.map(({ key }) => [key, new Set([key])]));
  for (const { key, resumed_from, tenant_id } of runs) {
    const paused = runs.find(
      (run) => run.run_id === resumed_from && run.tenant_id === tenant_id,
    )?.key;
    if (paused === undefined) continue;
    const joined = new Set([...(groupOf.get(key) ?? []), ...(groupOf.get(paused) ?? [])]);
    for (const each of joined) groupOf.set(each, joined);
  }
  return [...new Set(groupOf.values())].map((group) => [...group]);
}
