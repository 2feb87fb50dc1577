import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { RunDetail } from "../view/support/view-documents.ts";
import { command } from "./support/command.ts";
import { Folder } from "./support/folder.ts";

const RUN = "01a1fbfa-4885-70f9-8eae-5000024dac4a";
/** Each has two rows: more than fit into the arguments of a call. */
const CALLS = 70_000;

function* lines(): Generator<string> {
  const at = (n: number) => new Date(1_795_228_846_000 + n).toISOString();
  const line = (n: number, fields: Readonly<Record<string, unknown>>) =>
    `${JSON.stringify({ timestamp: at(n), run_id: RUN, tenant_id: "acme", ...fields })}\n`;
  yield line(0, { type: "started", parent_run_id: null, agent: "a" });
  for (let n = 0; n < CALLS; n += 1) {
    const call = { tool_use_id: `t${n}`, tool: "x", tool_version: null };
    yield line(2 * n + 1, { type: "tool_start", ...call, input: {} });
    yield line(2 * n + 2, { type: "tool_complete", ...call, output: {}, duration_ms: 1 });
  }
  yield line(2 * CALLS + 1, { type: "complete", usage: null, state: null });
}

it("a run of very many calls is replayed, verified, viewed and reported", {
  timeout: 1_800_000,
}, async () => {
  using folder = new Folder();
  const [recording, audit] = [folder.at("run.ndjson"), folder.at("audit")];
  const [spans, report] = [folder.at("spans.json"), folder.at("run.html")];
  writeFileSync(recording, [...lines()].join(""));
  const replayed = await command(["replay", recording, "--audit", audit, "--out", spans]);
  expect(replayed.code).toBe(0);
  const verified = await command(["audit", "verify", audit, "--against", spans]);
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringContaining("1 of 1 span found"),
  ]);
  const viewed = await command(["view", audit, spans, "--json", "--run", RUN]);
  expect([viewed.code, viewed.stderr]).toEqual([0, ""]);
  const detail: RunDetail = JSON.parse(viewed.stdout);
  expect([detail.spans.length, detail.rows.length]).toEqual([CALLS + 1, 2 * CALLS + 2]);
  const reported = await command(["report", audit, spans, "--run", RUN, "--out", report]);
  expect([reported.code, reported.stderr]).toEqual([0, ""]);
  expect(readFileSync(report, "utf8").split('"kind":"tool"')).toHaveLength(CALLS + 1);
});
