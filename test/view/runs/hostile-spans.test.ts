import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Folder } from "../../cli/support/folder.ts";
import { HOSTILE, HOSTILE_LINES } from "../support/hostile-spans.ts";
import { ALL, detailsOf, listOf, withRuns } from "../support/opened.ts";

it("hostile content of one span costs that span alone, and is named with their line", {
  timeout: 120_000,
}, async () => {
  using folder = new Folder();
  const file = folder.at("spans.json");
  writeFileSync(file, `${HOSTILE_LINES.join("\n")}\n`);
  await withRuns([file], ALL, async (runs) => {
    const { runs: listed, sources } = listOf(runs);
    const found = new Set(listed.map(({ run_id }) => run_id));
    const good = [...HOSTILE.map((_, at) => `r${1000 + at}`), "r9999"];
    expect(good.filter((id) => !found.has(id))).toEqual([]);
    expect(HOSTILE.filter((_, at) => found.has(`r${2000 + at}`)).map(([about]) => about)).toEqual(
      HOSTILE.filter(([, , , isRead]) => isRead).map(([about]) => about),
    );
    expect(
      (sources[0]?.problems ?? []).map(({ line: at, place, problem }) => [place, at, problem]),
    ).toEqual(
      HOSTILE.flatMap(([, , told], at) => (told === undefined ? [] : [[file, 2 * at + 2, told]])),
    );
    expect((await detailsOf(runs)).size).toBe(found.size);
  });
});
