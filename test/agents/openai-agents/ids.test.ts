import { addTraceProcessor, run, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { eventIdOf } from "../../../src/agents/openai-agents/ids.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { add, agent } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SPAN = "span_0123456789abcdef01234567";

describe("the id of an event", () => {
  it("reads as a UUID where the span's id is the SDK's, and tells what it is of", () => {
    expect(eventIdOf(SPAN, "start")).toBe("01234567-89ab-cdef-0123-456700000001");
    expect(eventIdOf(SPAN, "root-end")).toBe("01234567-89ab-cdef-0123-456700000006");
    expect(eventIdOf(SPAN, "run-end")).toBe("01234567-89ab-cdef-0123-456700000008");
    expect(eventIdOf("mine", "run-end")).toBe("mine:run-end");
  });

  it("is one for each event of a workflow, whose run and first agent's one span opens", async () => {
    const heard = listen();
    const both = () => agent("A", [[asks("add", { a: 1 })], [says("done")]], { tools: [add] });
    await withTrace("Named", async () => {
      await run(both(), "hi");
      await run(both(), "again");
    });
    await heard.processor.forceFlush();
    const ids = heard.told.map(({ envelope }) => envelope.event_id ?? "");
    expect(ids.filter((id) => !UUID.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(heard.told.map(({ event }) => event.type).filter((type) => type === "started")).toEqual([
      "started",
      "started",
      "started",
    ]);
  });

  it("is the same when a second processor tells it, so that nothing counts twice", async () => {
    const heard = listen();
    const second = new OpenAIAgentsProcessor({ sink: heard.sink, tenant: "acme" });
    addTraceProcessor(second);
    await run(agent("A", [[asks("add", { a: 1 })], [says("done")]], { tools: [add] }), "hi");
    await second.forceFlush();
    await heard.processor.forceFlush();
    const ids = heard.told.map(({ envelope }) => envelope.event_id);
    expect(ids).toHaveLength(16);
    expect(new Set(ids).size).toBe(8);
    expect(heard.spans()).toHaveLength(4);
    expect(heard.bridge.diagnostics().ignored.duplicate).toBe(8);
  });
});
