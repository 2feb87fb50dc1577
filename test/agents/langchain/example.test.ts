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

/** What the page shows that begins so. */
function shown(beginning: string): string {
  const blocks = codeBlocks(readPage("docs/langchain.md"));
  const block = blocks.find(
    ({ language, text }) => language === "text" && text.startsWith(beginning),
  );
  return block?.text ?? "";
}

describe("examples/langgraph.mjs", () => {
  it("prints the trees that the page shows", async () => {
    const { code, err, out } = await runExample("langgraph.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toEqual(settled(shown("asked:")));
    expect(settled(out)).toEqual([
      "asked: Refund order 17?",
      "trace ID",
      "invoke_agent support  N ms  interrupted",
      "├─ step agent  N ms  complete",
      "│  └─ chat FakeBuiltModel  N ms  done",
      "├─ step tools  N ms  complete",
      "│  └─ execute_tool look_up  N ms  complete",
      "├─ step agent  N ms  complete",
      "│  └─ chat FakeBuiltModel  N ms  done",
      "└─ step tools  N ms  interrupted",
      "   └─ execute_tool refund  N ms  interrupted",
      "trace ID",
      "invoke_agent support  N ms  complete",
      "├─ step tools  N ms  complete",
      "│  └─ execute_tool refund  N ms  complete",
      "└─ step agent  N ms  complete",
      "   └─ chat FakeBuiltModel  N ms  done",
      "second run goes on from the first: true",
    ]);
  });
});

describe("examples/langgraph-steps.mjs", () => {
  it("prints the tree that the page shows: 14 spans, with what each node did below it", async () => {
    const { code, err, out } = await runExample("langgraph-steps.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toEqual(settled(shown("trace")));
    expect(settled(out)).toEqual([
      "trace ID",
      "invoke_agent support  N ms  complete",
      "├─ step route  N ms  complete",
      "├─ step retrieve  N ms  complete",
      "│  └─ retrieval ShopPages  N ms  complete",
      "├─ step ask_expert  N ms  complete",
      "│  └─ invoke_agent expert  N ms  complete",
      "│     ├─ step agent  N ms  complete",
      "│     │  └─ chat FakeBuiltModel  N ms  done",
      "│     ├─ step tools  N ms  complete",
      "│     │  └─ execute_tool look_up  N ms  complete",
      "│     └─ step agent  N ms  complete",
      "│        └─ chat FakeBuiltModel  N ms  done",
      "└─ step answer  N ms  complete",
      "   └─ chat FakeBuiltModel  N ms  done",
    ]);
  });
});
