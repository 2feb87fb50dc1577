import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { ViewFailure, ViewSpan } from "../../../src/view/format.ts";
import { failuresIn } from "../../../src/view/model/failures.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { type RunPart, RunReader } from "../../../src/view/run-parts.ts";
import { earlierFailure } from "../../../src/view/runs/first-failure.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, line, recording, started } from "../../cli/support/recorded.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALL, listOf, silentIo, withRuns } from "../support/opened.ts";
import { runSpan, toolSpan } from "../support/view-span.ts";

const NAMES = readdirSync(dirname(recording("success"))).filter((name) => name.endsWith(".ndjson"));

/** The run as the page puts it together. */
async function putTogether(runs: ViewedRuns, key: string) {
  const parts = runs.parts(key);
  if (parts === undefined) throw new Error(`no run ${key}`);
  const reader = new RunReader();
  for await (const text of parts.lines()) {
    const part: RunPart = JSON.parse(text);
    reader.add(part);
  }
  return { head: parts.head, whole: reader.whole(parts.head) };
}

describe.each(NAMES)("the runs of %s", (name) => {
  it("are in parts what they are as a whole, and name the first failure before their spans", async () => {
    await withRuns([recording(name.replace(".ndjson", ""))], ALL, async (runs) => {
      for (const { key } of listOf(runs).runs) {
        const detail = await runs.detail(key);
        const { head, whole } = await putTogether(runs, key);
        expect(whole).toEqual(detail);
        const first = failuresIn(spanTree(whole.spans))[0]?.span;
        expect(head.first_failure?.span_id).toBe(first?.span_id);
        expect(head.first_failure?.name).toBe(first?.name);
        expect(head.first_failure?.end_ns).toBe(first?.end_ns);
      }
      expect(runs.parts("none")).toBeUndefined();
    });
  });
});

it("a run that has not changed since has no parts; one that has changed is sent again", async () => {
  using folder = new Folder();
  const file = folder.at("run.ndjson");
  writeFileSync(file, `${started()}\n`);
  const runs = await openSources([file], { follow: true, content: true, pollMs: 5 }, silentIo());
  try {
    await runs.ready();
    const [{ key = "" } = {}] = listOf(runs).runs;
    const { head } = await putTogether(runs, key);
    expect(head.unchanged).toBeUndefined();
    const same = runs.parts(key, head.revision);
    expect(same?.head.unchanged).toBe(true);
    const lines: string[] = [];
    for await (const text of same?.lines() ?? []) lines.push(text);
    expect(lines).toEqual([]);
    const call = { tool_use_id: "t-1", tool: "search" };
    const timestamp = "2026-04-29T12:00:00.5Z";
    appendFileSync(file, `${line({ type: "tool_start", ...call, input: {}, timestamp })}\n`);
    appendFileSync(file, `${completed()}\n`);
    await waitFor(() => expect(listOf(runs).runs[0]?.end_ns).not.toBeNull());
    const changed = runs.parts(key, head.revision);
    expect(changed?.head).toMatchObject({ run: { outcome: "complete", spans: 2 }, span_count: 2 });
    expect(changed?.head.unchanged).toBeUndefined();
    expect((await putTogether(runs, key)).whole.spans).toHaveLength(2);
  } finally {
    await runs.close();
  }
});

function foundIn(spans: readonly ViewSpan[]): ViewFailure | undefined {
  let found: ViewFailure | undefined;
  for (const span of spans) found = earlierFailure(found, span);
  return found;
}

describe("the first failure of a run", () => {
  const failed = { failed: true, message: "x".repeat(400) };
  const tool = toolSpan("tool", "run", { from: 0, to: 5 }, failed);
  const run = runSpan("run", undefined, { from: 0, to: 5 }, failed);

  it("is the span under the one that failed because of it, in any order", () => {
    expect(earlierFailure(earlierFailure(undefined, tool), run)?.span_id).toBe("tool");
    expect(earlierFailure(earlierFailure(undefined, run), tool)?.span_id).toBe("tool");
  });

  it("is the one that ended first, with the begin of its message", () => {
    const earlier = toolSpan("earlier", "run", { from: 1, to: 4 }, failed);
    const found = foundIn([tool, earlier, run]);
    expect(found).toMatchObject({ span_id: "earlier", name: "execute_tool search" });
    expect(found?.message).toHaveLength(200);
  });

  it("is none of a span that did not fail, or has not ended", () => {
    const open = toolSpan("open", "run", { from: 0, to: null }, failed);
    const fine = toolSpan("fine", "run", { from: 0, to: 1 });
    expect(foundIn([open, fine])).toBeUndefined();
  });
});

it("a parent of another tenant is named as such, and nothing else is said of it", async () => {
  using folder = new Folder();
  const file = folder.at("runs.ndjson");
  const [outer, inner] = [1, 2].map((n) => `018f3c7a-0000-7000-8000-00000000000${n}`);
  const other = { run_id: inner, tenant_id: "globex" };
  const lost = { run_id: "018f3c7a-0000-7000-8000-000000000003" };
  const lines = [
    started({ run_id: outer }),
    started({ ...other, parent_run_id: outer }),
    started({ ...lost, parent_run_id: "018f3c7a-0000-7000-8000-000000000009" }),
    completed(other),
    completed(lost),
    completed({ run_id: outer }),
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  await withRuns([file], ALL, async (runs) => {
    const parentOf = async (tenant: string, id: string | undefined) => {
      const run = listOf(runs).runs.find((each) => each.tenant_id === tenant && each.run_id === id);
      return (await runs.detail(run?.key ?? ""))?.related;
    };
    expect(await parentOf("globex", inner)).toEqual([
      { relation: "parent", run_id: outer, other_tenant: true },
    ]);
    expect(await parentOf("acme", lost.run_id)).toEqual([
      { relation: "parent", run_id: "018f3c7a-0000-7000-8000-000000000009" },
    ]);
  });
});
