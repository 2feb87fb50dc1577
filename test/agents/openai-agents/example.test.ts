import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeBlocks, ROOT, readPage } from "../../docs/pages.ts";
import { runExample } from "../../examples/run-example.ts";

/** The output with what is new each time made plain: trace ids and durations. */
function settled(out: string): string {
  return out.replace(/\b[0-9a-f]{32}\b/g, "ID").replace(/\b\d+ ms/g, "N ms");
}

describe("examples/openai-agents.mjs", () => {
  it("prints what docs/openai-agents.md shows", async () => {
    const [program, printed] = codeBlocks(readPage("docs/openai-agents.md"));
    const file = readFileSync(join(ROOT, "examples/openai-agents.mjs"), "utf8");
    for (const line of program?.text.split("\n") ?? ["nothing"]) expect(file).toContain(line);
    const { code, err, out } = await runExample("openai-agents.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toBe(settled(printed?.text ?? "nothing"));
  });
});
