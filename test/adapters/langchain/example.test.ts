import { describe, expect, it } from "vitest";
import { codeBlocks, readPage } from "../../docs/pages.ts";
import { runExample } from "../../examples/run-example.ts";

/** With what is new each time made plain: trace ids and durations. */
function settled(out: string): string[] {
  return out
    .replace(/\b[0-9a-f]{32}\b/g, "ID")
    .replace(/\d+ ms/g, "N ms")
    .trimEnd()
    .split("\n");
}

describe("examples/langgraph.mjs", () => {
  it("prints the trees that the page shows", async () => {
    const { code, err, out } = await runExample("langgraph.mjs");
    expect([code, err]).toEqual([0, ""]);
    const shown = codeBlocks(readPage("docs/langchain.md")).find(({ language }) => {
      return language === "text";
    });
    expect(settled(out)).toEqual(settled(shown?.text ?? ""));
    expect(settled(out)).toEqual([
      "asked: Refund order 17?",
      "trace ID",
      "invoke_agent support  N ms  interrupted",
      "├─ chat FakeBuiltModel  N ms  done",
      "├─ execute_tool look_up  N ms  complete",
      "├─ chat FakeBuiltModel  N ms  done",
      "└─ execute_tool refund  N ms  interrupted",
      "trace ID",
      "invoke_agent support  N ms  complete",
      "├─ execute_tool refund  N ms  complete",
      "└─ chat FakeBuiltModel  N ms  done",
      "second run goes on from the first: true",
    ]);
  });
});
