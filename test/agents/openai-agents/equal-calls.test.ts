import { run } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { agent, pay } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

describe("a pause for equal calls", () => {
  it.each([0, 1])("says which of two equal calls was denied: %i", async (denied) => {
    const heard = listen();
    const calls = [asks("pay", { n: 1 }, "p0"), asks("pay", { n: 1 }, "p1")];
    const a = agent("A", [calls, [says("done")]], { tools: [pay] });
    const { interruptions, state } = await run(a, "hi");
    interruptions.forEach((waiting, n) => {
      if (n === denied) state.reject(waiting);
      else state.approve(waiting);
    });
    await run(a, state);
    const lines = (await heard.events()).filter((line) => line.includes(" pay "));
    expect(lines.toSorted()).toEqual([
      `A tool_call_approved pay p${1 - denied}`,
      `A tool_call_denied pay p${denied}`,
      `A tool_complete pay p${1 - denied}`,
      `A tool_start pay p${1 - denied}`,
    ]);
  });
});
