import { expect, it, vi } from "vitest";
import { runDetail } from "../../../src/view/runs/run-detail.ts";
import type { RowQuery, RunLog } from "../../../src/view/runs/run-log.ts";
import { RunStore, STANDING } from "../../../src/view/runs/run-store.ts";
import { SpanSpool } from "../../../src/view/runs/span-spool.ts";
import { Folder } from "../../cli/support/folder.ts";
import { IS_DEEP } from "../../support/runs.ts";
import { runSpan, toolSpan, viewRow } from "../support/view-span.ts";

const ACME = { "entelix.tenant_id": "acme" };
const TIMES = { from: 0, to: 1 };

/** More than a call can have arguments. */
const MANY = IS_DEEP ? 200_000 : 130_000;

it("a run has all of its many calls, and twice as many rows", { timeout: 120_000 }, async () => {
  using folder = new Folder();
  const store = new RunStore(folder.path);
  const source = store.addSource(STANDING.spans);
  store.add(source, runSpan("run", undefined, TIMES, { attributes: ACME }));
  for (let n = 0; n < MANY; n += 1) {
    store.add(source, toolSpan(`${n}`, "run", TIMES, { attributes: ACME }));
  }
  const rows = Array.from({ length: 2 * MANY }, (_, at) => viewRow(at + 1));
  const asked: RowQuery[] = [];
  const log: RunLog = {
    from: "log",
    verdict: undefined,
    rows: async (query) => {
      asked.push(query);
      return rows;
    },
  };
  const [from, to] = [
    { segment: 1, offset: 0 },
    { segment: 1, offset: 9 },
  ];
  store.index.addRow({
    tenant_id: "acme",
    run_id: "run",
    log: store.addLog(log),
    standing: 2,
    from,
    to,
  });
  const [run] = store.index.runs();
  const detail = run && (await runDetail(store, run, { content: true }));
  expect([detail?.spans.length, detail?.rows.length, asked.length]).toEqual([
    MANY + 1,
    2 * MANY,
    1,
  ]);
  store.close();
});

it("spans that come twice count once, and the file is not read for it", () => {
  using folder = new Folder();
  const store = new RunStore(folder.path);
  const source = store.addSource(STANDING.spans);
  const runs = Array.from({ length: 500 }, (_, n) =>
    runSpan(`span ${n}`, undefined, TIMES, { run_id: `run ${n}`, attributes: ACME }),
  );
  const read = vi.spyOn(SpanSpool.prototype, "read");
  try {
    for (const span of [...runs, ...runs]) store.add(source, span);
    const counted = [...store.index.runs()].map((run) => store.view(run).spans);
    expect(counted).toEqual(runs.map(() => 1));
    expect(read).not.toHaveBeenCalled();
  } finally {
    read.mockRestore();
    store.close();
  }
});
