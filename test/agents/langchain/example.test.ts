import { describe, expect, it } from "vitest";
import { runExample } from "../../examples/run-example.ts";

/** With what is new each time made plain: trace ids and durations. */
function settled(out: string): string[] {
  return out
    .replace(/\b[0-9a-f]{32}\b/g, "ID")
    .replace(/\d+ ms/g, "N ms")
    .trimEnd()
    .split("\n");
}

describe("examples/langgraph-steps.mjs", () => {
  it("prints 14 spans, with the calls of each node below it", async () => {
    const { code, err, out } = await runExample("langgraph-steps.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toEqual([
      "trace ID",
      "invoke_agent support  N ms  complete",
      "├─ step route  N ms  complete",
      "├─ step retrieve  N ms  complete",
      "│  └─ retrieval ShopPages  N ms  complete",
      "├─ step ask_expert  N ms  complete",
      "│  └─ invoke_agent expert  N ms  complete",
      "│     ├─ step model_request  N ms  complete",
      "│     │  └─ chat FakeBuiltModel  N ms  done",
      "│     ├─ step tools  N ms  complete",
      "│     │  └─ execute_tool look_up  N ms  complete",
      "│     └─ step model_request  N ms  complete",
      "│        └─ chat FakeBuiltModel  N ms  done",
      "└─ step answer  N ms  complete",
      "   └─ chat FakeBuiltModel  N ms  done",
    ]);
  });
});
