import { Agent, run, tool } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  contentNames,
  expectMessageForm,
  messagesOn,
  runContent,
} from "../../support/message-form.ts";
import { add, agent, pay, rejected, streamed } from "./scenes.ts";
import { type Api, asks, type Item, ScriptedModel, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const text = (content: string) => ({ type: "text", content });
const user = (...parts: object[]) => ({ role: "user", parts });
const answer = (...parts: object[]) => ({
  role: "assistant",
  parts,
  finish_reason: expect.any(String),
});
const call = (name: string, args: object = {}, id = `call_${name}`) => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});
const thought: Item = {
  type: "reasoning",
  id: "r1",
  content: [{ type: "input_text", text: "sum" }],
};
const sealed: Item = { type: "reasoning", id: "r2", content: [], providerData: { key: "sealed" } };

async function spansOf(heard: ReturnType<typeof listen>) {
  await heard.processor.forceFlush();
  const spans = heard.spans();
  expectMessageForm(spans);
  expect(heard.processor.counts.faults).toBe(0);
  return { spans, chats: spans.filter(({ name }) => name.startsWith("chat")) };
}

describe("messages of OpenAI Agents", () => {
  it.each<Api>(["responses", "chat", "aisdk"])(
    "have the question and the answer on the run, and calls between (%s)",
    async (api) => {
      const heard = listen({ captureContent: true });
      const steps = [
        [thought, asks("add", { a: 1 })],
        [sealed, says("2")],
      ];
      const model = new ScriptedModel(steps, api);
      await run(agent("A", [], { model, tools: [add], instructions: "be kind" }), "1 + 1?");
      const { chats, spans } = await spansOf(heard);
      expect(runContent(spans)).toEqual([[[user(text("1 + 1?"))], [answer(text("2"))]]]);
      const [first, second] = chats;
      const shown = api === "chat" ? [] : [{ type: "reasoning", content: "sum" }];
      expect(first && messagesOn(first, "output")).toEqual([
        answer(...shown, call("add", { a: 1 })),
      ]);
      const asked = second && messagesOn(second, "input");
      expect(asked?.at(-1)).toEqual({
        role: "tool",
        parts: [{ type: "tool_call_response", id: "call_add", response: "2" }],
      });
      expect(asked?.at(-2)?.parts.at(-1)).toEqual(call("add", { a: 1 }));
    },
  );

  it("are the same where the answer is streamed", async () => {
    const heard = listen({ captureContent: true });
    const steps = [[asks("add", { a: 1 })], [says("2")]];
    await streamed(agent("A", steps, { tools: [add] }), "1 + 1?");
    const { spans } = await spansOf(heard);
    expect(runContent(spans)).toEqual([[[user(text("1 + 1?"))], [answer(text("2"))]]]);
  });

  it("hold images, audio and files", async () => {
    const heard = listen({ captureContent: true });
    const content = [
      { type: "input_text" as const, text: "what is it?" },
      { type: "input_image" as const, image: "data:image/png;base64,AAAA" },
      { type: "input_image" as const, image: { id: "file-1" } },
      { type: "audio" as const, audio: "BBBB", format: "wav" },
      { type: "input_file" as const, file: { url: "https://a.example/a.pdf" } },
    ];
    await run(agent("A", [[says("a cat")]]), [{ role: "user", content }]);
    const { spans } = await spansOf(heard);
    const blob = { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" };
    expect(runContent(spans)[0]?.[0]).toEqual([
      user(
        text("what is it?"),
        blob,
        { type: "file", modality: "image", file_id: "file-1" },
        { type: "blob", modality: "audio", mime_type: "audio/wav", content: "BBBB" },
        { type: "uri", modality: "document", uri: "https://a.example/a.pdf" },
      ),
    ]);
  });

  it("of tools that fail or give images are their results", async () => {
    const heard = listen({ captureContent: true });
    const draw = tool({
      name: "draw",
      description: "draws",
      parameters: z.object({}),
      execute: async () => ({
        type: "image" as const,
        image: { data: new Uint8Array([137, 80]), mediaType: "image/png" },
      }),
    });
    await run(agent("A", [[asks("draw")], [says("done")]], { tools: [draw] }), "draw");
    const { chats } = await spansOf(heard);
    const result = chats[1] && messagesOn(chats[1], "input")?.at(-1);
    expect(result?.role).toBe("tool");
    expect(result?.parts[0]).toMatchObject({ type: "tool_call_response", id: "call_draw" });
    expect(JSON.stringify(result)).toContain("iVA=");
  });

  it("of a handoff stand on both runs", async () => {
    const heard = listen({ captureContent: true });
    const expert = agent("B", [[says("from B")]]);
    const first = new Agent({
      name: "A",
      handoffs: [expert],
      model: new ScriptedModel([[asks("transfer_to_B")]]),
    });
    await run(first, "help me");
    const { spans } = await spansOf(heard);
    // The whole, and the agent that it was handed to: what answers the one answers the other.
    const both = [[user(text("help me"))], [answer(text("from B"))]];
    expect(runContent(spans)).toEqual([both, both]);
  });

  it("of a paused run are the calls that wait, and of its resumption the answer", async () => {
    const heard = listen({ captureContent: true });
    const payer = agent("A", [[asks("pay", { n: 1 }, "p1")], [says("paid")]], { tools: [pay] });
    const paused = await run(payer, "pay Ann");
    for (const waiting of paused.interruptions) paused.state.approve(waiting);
    await run(payer, paused.state);
    const { spans } = await spansOf(heard);
    expect(runContent(spans)).toEqual([
      [
        [user(text("pay Ann"))],
        [{ ...answer(call("pay", { n: 1 }, "p1")), finish_reason: "tool_call" }],
      ],
      [[user(text("pay Ann"))], [answer(text("paid"))]],
    ]);
  });

  it("of 200 KB are shortened, with the newest question and the answer", async () => {
    const heard = listen({ captureContent: true });
    const history = Array.from({ length: 400 }, (_, n) =>
      n % 2 === 0
        ? { role: "user" as const, content: `${n} ${"x".repeat(500)}` }
        : says(`${n} ${"y".repeat(500)}`),
    );
    const question = { role: "user" as const, content: "Where is my order?" };
    await run(agent("A", [[says("On its way.")]]), [...history, question]);
    const { chats, spans } = await spansOf(heard);
    expect(runContent(spans)).toEqual([
      [[user(text("Where is my order?"))], [answer(text("On its way."))]],
    ]);
    const [chat] = chats;
    const asked = chat?.attributes["gen_ai.input.messages"];
    expect(Buffer.byteLength(String(asked))).toBeLessThan(65_537);
    expect(chat && messagesOn(chat, "input")?.at(-1)).toEqual(user(text("Where is my order?")));
    expect(chat?.attributes["entelix.content.cut_bytes"]).toBeGreaterThan(130_000);
    expect(chat?.attributes["entelix.content.dropped_messages"]).toBeGreaterThan(200);
  });

  it("are the question alone where the run fails, and nowhere unless captured", async () => {
    for (const captureContent of [true, false]) {
      const heard = listen({ captureContent });
      const script = [[asks("add", { a: 1 })], new Error("down")];
      await rejected(run(agent("A", script, { tools: [add] }), "1 + 1?"));
      const { spans } = await spansOf(heard);
      expect(spans.length).toBeGreaterThan(3);
      if (captureContent) expect(runContent(spans)[0]?.[0]).toEqual([user(text("1 + 1?"))]);
      else expect(contentNames(spans)).toEqual([]);
    }
  });
});
