import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeBlocks, ROOT, readPage } from "../../docs/pages.ts";
import { runExample } from "../../examples/run-example.ts";

/** The output with what is new each time made plain: trace ids and durations. */
function settled(out: string): string {
  return out.replace(/\b[0-9a-f]{32}\b/g, "ID").replace(/\b\d+ ms/g, "N ms");
}

describe("examples/agent.mjs", () => {
  it("is an agent of 25 lines", () => {
    const lines = readFileSync(join(ROOT, "examples/agent.mjs"), "utf8").split("\n");
    const code = lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
    expect(code.length).toBeLessThanOrEqual(25);
  });

  it("prints what docs/runtime.md shows", async () => {
    const [program, printed] = codeBlocks(readPage("docs/runtime.md"));
    const file = readFileSync(join(ROOT, "examples/agent.mjs"), "utf8");
    expect(file).toContain(program?.text ?? "nothing");
    const { code, err, out } = await runExample("agent.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toBe(settled(printed?.text ?? "nothing"));
  });
});
