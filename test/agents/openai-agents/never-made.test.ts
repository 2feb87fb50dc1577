import { run, tool } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent as newer, play, saying, TRACE } from "./newer-spans.ts";
import { agent } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const look = tool({
  name: "look",
  description: "",
  parameters: z.object({ n: z.number() }),
  execute: async () => "seen",
});

/** The failed calls, and how the run ended. */
function endsOf(heard: ReturnType<typeof listen>) {
  return heard.told.flatMap(({ event }) => {
    if (event.type === "tool_error") {
      const { envelope, kind, tool: name, tool_use_id } = event;
      return [[name, tool_use_id, kind, envelope.wire_code]];
    }
    return event.type === "complete" || event.type === "failed" ? [[event.type]] : [];
  });
}

describe("a call that no tool got", () => {
  it.each<readonly [string, string, object | string, string, string]>([
    ["of a tool that the agent does not have", "nope", {}, "tool_unknown", "failed"],
    ["with arguments that are not JSON", "look", "{oops", "tool_input_invalid", "complete"],
    ["with arguments that do not fit", "look", { n: "x" }, "tool_input_invalid", "complete"],
  ])("%s is a failed call", async (_, name, args, code, end) => {
    const call = asks(name, args, "n1");
    const heard = listen();
    const made = agent("A", [[call], [says("done")]], { tools: [look] });
    await run(made, "hi").catch(() => {});
    await heard.events();
    expect(endsOf(heard)).toEqual([[name, "n1", "validation", code], [end]]);
    expect(heard.told.filter(({ event }) => event.type === "tool_start")).toHaveLength(1);
  });

  it("stands before the next call of the model", async () => {
    const heard = listen();
    await run(agent("A", [[asks("look", "{oops")], [says("done")]], { tools: [look] }), "hi");
    await heard.events();
    const types = heard.told.map(({ event }) => event.type);
    expect(types.indexOf("tool_error")).toBeLessThan(types.lastIndexOf("model_start"));
  });

  type Made = readonly [id: string, args: string, input: string, failed: boolean];
  const BAD: Made = ["n1", "{oops", "", true];
  const UNFIT: Made = ["n2", '{"n":"x"}', "", true];
  const SEEN: Made = ["n3", '{"n":1}', '{"n":1}', false];
  const REFUSED = ["validation", "tool_input_invalid"];

  it.each<readonly [string, readonly Made[], readonly (readonly string[])[]]>([
    ["alone", [BAD], [["n1", ...REFUSED]]],
    ["with a visible input", [["n1", "{oops", "{oops", true]], [["n1", ...REFUSED]]],
    ["beside another call", [BAD, SEEN], [["n1", ...REFUSED]]],
    ["behind another call", [SEEN, BAD], [["n1", ...REFUSED]]],
    [
      "twice",
      [BAD, ["n4", "{oops", "", true]],
      [
        ["n1", ...REFUSED],
        ["n4", ...REFUSED],
      ],
    ],
    ["without the form of the tool", [UNFIT], [["n2", ...REFUSED]]],
    [
      "beside one without the form of the tool",
      [BAD, UNFIT],
      [
        ["n1", ...REFUSED],
        ["n2", ...REFUSED],
      ],
    ],
    [
      "not hidden: the tool threw",
      [["n1", '{"n":1}', '{"n":1}', true]],
      [["n1", "internal", "unclassified"]],
    ],
  ])("is known from 0.20 on, where the SDK hides input and error: %s", async (_, calls, failed) => {
    const heard = listen();
    const { processor } = heard;
    const nothing = { traceId: TRACE.traceId, error: null, startedAt: null, endedAt: null };
    const a1 = { ...nothing, spanId: "a1", parentId: null, spanData: newer("A") };
    await processor.onTraceStart(TRACE);
    await processor.onSpanStart(a1);
    const output = calls.map(([call_id, args]) => {
      return { type: "function_call", name: "look", call_id, arguments: args };
    });
    await play(heard, ["m1", { type: "response", _response: { output } }], "a1");
    const error = {
      message: "Error running tool (non-fatal)",
      data: { tool_name: "look", error: "Tool execution failed. Error details are redacted." },
    };
    const spans = calls.map(([id, , input, hasFailed]) => {
      const spanData = { type: "function", name: "look", input, output: "" };
      const open = { ...nothing, spanId: `f-${id}`, parentId: "a1", spanData };
      return [open, { error: hasFailed ? error : null, output: "try again" }] as const;
    });
    for (const [open] of spans) await processor.onSpanStart(open);
    for (const [open, { error, output }] of spans) {
      await processor.onSpanEnd(
        Object.assign(open, { error, spanData: { ...open.spanData, output } }),
      );
    }
    await play(heard, ["m2", saying], "a1");
    await processor.onSpanEnd(a1);
    void processor.onTraceEnd(TRACE);
    await heard.events();
    const ends = failed.map((told) => ["look", ...told]);
    expect(endsOf(heard)).toEqual([...ends, ["complete"]]);
    const starts = heard.told.flatMap(({ event }) => {
      return event.type === "tool_start" ? [event.tool_use_id] : [];
    });
    expect(starts.toSorted()).toEqual(calls.map(([id]) => id).toSorted());
  });
});
