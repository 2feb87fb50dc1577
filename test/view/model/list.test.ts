import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewRun } from "../../../src/view/format.ts";
import {
  facetCounts,
  facetValues,
  filledFacets,
  filterRows,
} from "../../../src/view/model/filter-rows.ts";
import {
  addressQuery,
  byFacet,
  FACETS,
  type Facet,
  isFiltered,
  type ListQuery,
  listQuery,
  SORT_COLUMNS,
  sortedBy,
  toggled,
  withoutFilters,
} from "../../../src/view/model/list-query.ts";
import { nextRow } from "../../../src/view/model/next-row.ts";
import { RunIndex, type RunRow } from "../../../src/view/model/run-index.ts";
import { newestFirst, sortRows } from "../../../src/view/model/sort-rows.ts";
import { atSecond, rowsOf, runs, viewRun } from "./runs.ts";

const query = (text = ""): ListQuery => listQuery(new URLSearchParams(text));
const keys = (rows: readonly RunRow[]) => rows.map(({ run }) => run.key);

const queries = fc
  .record({
    outcome: fc.subarray(["complete", "failed", "open"]),
    kind: fc.subarray(["internal", "cancelled", ""]),
    agent: fc.subarray(["a", "B", ""]),
    tag: fc.subarray(["web", "test", ""]),
    from: fc.option(fc.nat(5)),
    to: fc.option(fc.nat(5)),
    sub: fc.boolean(),
    waiting: fc.boolean(),
    grouped: fc.boolean(),
    q: fc.constantFrom("", "acme", "FAILED run", "RUN-1 acme", "nothing"),
    sort: fc.constantFrom(...SORT_COLUMNS),
    descending: fc.boolean(),
  })
  .map(({ descending, from, grouped, q, sort, sub, to, waiting, ...facets }): ListQuery => {
    const start = (second: number | null) =>
      second === null ? undefined : (1_764_172_800 + second) * 1000;
    const chosen: Partial<Record<Facet, readonly string[]>> = facets;
    return {
      chosen: byFacet((facet) => new Set(chosen[facet])),
      waiting,
      grouped,
      fromMs: start(from),
      toMs: start(to),
      subRuns: sub,
      search: q,
      sort,
      descending,
    };
  });

describe("the query of the list", () => {
  it("is the same after a way through the address", () => {
    fc.assert(
      fc.property(queries, (list) => {
        expect(listQuery(new URLSearchParams(addressQuery(list).toString()))).toEqual(list);
      }),
    );
  });

  it("has its defaults where the address is empty or damaged", () => {
    expect(addressQuery(query()).toString()).toBe("");
    expect(query("sort=nonsense&from=yesterday&sub=2")).toEqual(query());
    expect([query().sort, query().descending, query().subRuns]).toEqual(["time", true, false]);
  });

  it("loses its filters, and not its order", () => {
    const list = query("q=x&outcome=failed&from=2026-01-01T00:00:00.000Z&sub=1&sort=cost");
    expect([isFiltered(list), isFiltered(withoutFilters(list))]).toEqual([true, false]);
    expect(addressQuery(withoutFilters(list)).toString()).toBe("sub=1&sort=cost");
    const waiting = query("waiting=1&group=conversation");
    expect([isFiltered(waiting), isFiltered(withoutFilters(waiting))]).toEqual([true, false]);
    expect(addressQuery(withoutFilters(waiting)).toString()).toBe("group=conversation");
  });

  it("chooses a value, and no longer", () => {
    const chosen = toggled(query("agent=a"), "agent", "");
    expect(addressQuery(chosen).toString()).toBe("agent=a&agent=");
    expect(addressQuery(toggled(chosen, "agent", "a")).toString()).toBe("agent=");
  });

  it("turns the order round where a column is chosen again", () => {
    const byCost = sortedBy(query(), "cost");
    const orders = [byCost, sortedBy(byCost, "cost"), sortedBy(byCost, "agent")];
    expect(orders.map((list) => addressQuery(list).toString())).toEqual([
      "sort=-cost",
      "sort=cost",
      "sort=agent",
    ]);
  });
});

describe("the list", () => {
  it("has the rows and the order of a simple filter and sort", () => {
    fc.assert(
      fc.property(runs, queries, (all, list) => {
        const matching = filterRows(newestFirst(rowsOf(...all)), list);
        const shown = sortRows(matching, list.sort, list.descending);
        expect(keys(shown)).toEqual(reference(all, list));
      }),
    );
  });

  it("finds every word in the columns as they are shown, and in the IDs", () => {
    const run = viewRun("r-1", {
      agent: "Planner",
      working_ms: 1200,
      input_tokens: 12_345,
      cost_usd: "0.0042",
      trace_id: "AB".repeat(16),
    });
    const found = (q: string) => filterRows(rowsOf(run), { ...query(), search: q }).length;
    const searches = ["planner  acme", "1.2 s", "12,345", "$0.0042", "abab", "R-1", "planner x"];
    expect(searches.map(found)).toEqual([1, 1, 1, 1, 1, 1, 0]);
  });

  it("hides a sub-run once its parent is in the list, and not before", () => {
    const index = new RunIndex();
    const shown = () => keys(filterRows(index.rows, query())).sort();
    index.merge([viewRun("child", { parent_run_id: "parent", outcome: "failed" })]);
    expect(shown()).toEqual(["child"]);
    index.merge([viewRun("other", { run_id: "parent", tenant_id: "globex" })]);
    expect(shown()).toEqual(["child", "other"]);
    index.merge([viewRun("parent")]);
    expect(shown()).toEqual(["other", "parent"]);
    expect(keys(filterRows(index.rows, query("sub=1")))).toHaveLength(3);
  });

  it("counts for each value of a filter the rows that it would show", () => {
    fc.assert(
      fc.property(runs, queries, fc.constantFrom(...FACETS), (all, list, facet) => {
        const rows = rowsOf(...all);
        const counts = facetCounts(rows, list, facet);
        const values = new Set(all.flatMap((run) => facetValues(run, facet)));
        const expected = [...values].map((value): [string, number] => {
          const chosen = { ...list.chosen, [facet]: new Set([value]) };
          return [value, filterRows(rows, { ...list, chosen }).length];
        });
        expect(counts).toEqual(new Map(expected.filter(([, n]) => n > 0)));
      }),
    );
  });
});

describe("the filters", () => {
  it("find a run by each of its values", () => {
    const rows = rowsOf(
      viewRun("one", { tools: ["refund", "mail"], tags: ["web"], models: ["a", "b"], model: "a" }),
      viewRun("two", { model: "a", thread_id: "t1", user: "u", session: "s" }),
    );
    const found = (address: string) => keys(filterRows(rows, query(address)));
    expect(found("tool=mail")).toEqual(["one"]);
    expect(found("tool=mail&tool=")).toEqual(["one", "two"]);
    expect(found("model=b")).toEqual(["one"]);
    expect(found("model=a")).toEqual(["one", "two"]);
    expect(found("tag=")).toEqual(["two"]);
    expect(found("thread=t1&user=u&session=s")).toEqual(["two"]);
    expect([...facetCounts(rows, query("tool=mail"), "tool")]).toEqual([
      ["refund", 1],
      ["mail", 1],
      ["", 1],
    ]);
  });

  it("are those that some run has a value for", () => {
    const rows = rowsOf(viewRun("one"), viewRun("two", { tools: ["mail"] }));
    expect([...filledFacets(rows)]).toEqual(["outcome", "tenant", "tool"]);
    expect([...filledFacets([])]).toEqual([]);
  });

  it("find the runs that wait for a person, and no longer those that went on", () => {
    const paused = { outcome: "interrupted" } as const;
    const rows = rowsOf(
      viewRun("waits", paused),
      viewRun("went on elsewhere", { ...paused, resumed: true }),
      viewRun("went on", { ...paused, resumed: true }),
      viewRun("after", { outcome: "complete", resumed_from: "went on" }),
      viewRun("done", { outcome: "complete" }),
    );
    expect(keys(filterRows(rows, query("waiting=1")))).toEqual(["waits"]);
  });
});

describe("the index of runs", () => {
  it("has the same rows, whether they came as one list or as changes", () => {
    const changes = fc.array(fc.tuple(fc.nat(10), fc.constantFrom("open", "failed")), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(changes, fc.integer({ min: 1, max: 5 }), (all, size) => {
        const index = new RunIndex();
        const latest = new Map<string, ViewRun>();
        let fresh = 0;
        for (let from = 0; from < all.length; from += size) {
          const part = all
            .slice(from, from + size)
            .map(([n, outcome], at) => viewRun(`${n}`, { outcome, ...atSecond(from + at) }));
          for (const run of part) latest.set(run.key, run);
          fresh += index.merge(part);
        }
        const whole = rowsOf(...latest.values());
        expect(index.rows).toEqual(whole);
        expect(fresh).toBe(latest.size);
      }),
    );
  });

  it("loses the runs that the server has left out, and takes further ones", () => {
    const index = new RunIndex();
    index.merge([5, 9, 10, 11].map((second) => viewRun(`${second}`, atSecond(second))));
    index.removeBefore(atSecond(10).start_ns);
    expect(keys(index.rows)).toEqual(["10", "11"]);
    const { rows } = index;
    index.removeBefore(atSecond(10).start_ns);
    expect(index.rows).toBe(rows);
    index.merge([
      viewRun("11", { ...atSecond(11), outcome: "failed" }),
      viewRun("12", atSecond(12)),
    ]);
    expect(index.rows.map(({ run }) => [run.key, run.outcome])).toEqual([
      ["10", "open"],
      ["11", "failed"],
      ["12", "open"],
    ]);
  });

  it("keeps its array where nothing has changed, and gives another one where something has", () => {
    const index = new RunIndex();
    index.merge([viewRun("a")]);
    const before = index.rows;
    expect(index.merge([])).toBe(0);
    expect(index.rows).toBe(before);
    expect(index.merge([viewRun("a", { outcome: "failed" })])).toBe(0);
    expect(index.rows).not.toBe(before);
    expect([before, index.rows].map(([row]) => row?.run.outcome)).toEqual(["open", "failed"]);
  });
});

describe("keys", () => {
  it.each([
    ["ArrowDown", 0, 1],
    ["ArrowDown", 9, 9],
    ["ArrowUp", 0, 0],
    ["ArrowUp", 5, 4],
    ["PageDown", 1, 5],
    ["PageUp", 2, 0],
    ["Home", 7, 0],
    ["End", 7, 9],
    ["x", 7, undefined],
  ])("%s leads from row %d to %s", (key, position, next) => {
    expect(nextRow(key, position, 10, 4)).toBe(next);
  });
});

/** The list in the plainest way. */
function reference(all: readonly ViewRun[], list: ListQuery): readonly string[] {
  const startOf = (run: ViewRun) => Number(BigInt(run.start_ns) / 1_000_000n);
  const words = list.search.toLowerCase().split(" ");
  const matching = all.filter((run) => {
    const start = startOf(run);
    const isParent = ({ run_id, tenant_id }: ViewRun) =>
      run_id === run.parent_run_id && tenant_id === run.tenant_id && run_id !== run.run_id;
    if (!list.subRuns && all.some(isParent)) return false;
    if (list.fromMs !== undefined && start < list.fromMs) return false;
    if (list.toMs !== undefined && start >= list.toMs) return false;
    if (list.chosen.outcome.size > 0 && !list.chosen.outcome.has(run.outcome)) return false;
    if (list.chosen.kind.size > 0 && !list.chosen.kind.has(run.failure_kind ?? "")) return false;
    if (list.waiting && run.outcome !== "interrupted") return false;
    const tags = run.tags ?? [""];
    if (list.chosen.tag.size > 0 && !tags.some((tag) => list.chosen.tag.has(tag))) return false;
    if (list.chosen.agent.size > 0 && !list.chosen.agent.has(run.agent ?? "")) return false;
    const text = `${run.key} ${run.tenant_id} ${run.outcome}`;
    return words.every((word) => text.includes(word));
  });
  const values: Readonly<Record<ListQuery["sort"], (run: ViewRun) => string | number>> = {
    time: startOf,
    agent: ({ agent }) => agent ?? Number.NaN,
    tenant: ({ tenant_id }) => tenant_id,
    outcome: ({ outcome }) => outcome,
    kind: ({ failure_kind }) => failure_kind ?? Number.NaN,
    origin: ({ failure_origin }) => failure_origin ?? Number.NaN,
    working: ({ working_ms }) => working_ms ?? Number.NaN,
    waiting: ({ waiting_ms }) => waiting_ms ?? Number.NaN,
    tokens: ({ input_tokens, output_tokens }) =>
      input_tokens === undefined && output_tokens === undefined
        ? Number.NaN
        : (input_tokens ?? 0) + (output_tokens ?? 0),
    input: ({ input_tokens }) => input_tokens ?? Number.NaN,
    output: ({ output_tokens }) => output_tokens ?? Number.NaN,
    cost: ({ cost_usd }) => Number(cost_usd),
  };
  const value = values[list.sort];
  const byTime = (a: ViewRun, b: ViewRun) => startOf(b) - startOf(a) || (a.key < b.key ? -1 : 1);
  if (list.sort === "time") {
    const sorted = matching.sort(byTime).map(({ key }) => key);
    return list.descending ? sorted : sorted.reverse();
  }
  return matching
    .sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      const [noLeft, noRight] = [Number.isNaN(left), Number.isNaN(right)];
      if (noLeft || noRight) return Number(noLeft) - Number(noRight) || byTime(a, b);
      if (left === right) return byTime(a, b);
      return left < right === list.descending ? 1 : -1;
    })
    .map(({ key }) => key);
}
