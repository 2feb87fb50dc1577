import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { runAgent, startRun } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt } from "../../../src/agents/runtime/run-errors.ts";
import type { AgentEventSink } from "../../../src/index.ts";
import {
  contentNames,
  expectMessageForm,
  messagesOn,
  runContent,
} from "../../support/message-form.ts";
import { recorder } from "../../support/recorded-and-replayed.ts";
import { bench, RunEvents } from "../../support/run-events.ts";
import { rejection } from "./said.ts";

const base = { agent: "support", tenant: "acme" };
const text = (content: string) => ({ type: "text", content });
const user = (...parts: object[]) => ({ role: "user", parts });
const answer = (content: string, finish_reason = "unknown") => ({
  role: "assistant",
  parts: [text(content)],
  finish_reason,
});

/** Runs it with spans and a recording, whose replay must make the same spans. */
async function spansOf(
  work: (sink: AgentEventSink) => Promise<unknown>,
  captureContent = true,
): Promise<readonly ReadableSpan[]> {
  const { replayed, sink, spans } = recorder({ captureContent }, true);
  await work(sink);
  await replayed();
  expectMessageForm(spans());
  return spans();
}

const ORDER = { id: 17, when: new Date(0), total: 2n ** 60n };

it("a text that a model's function returns is its answer, unless another is reported", async () => {
  const spans = await spansOf((sink) =>
    runAgent({ ...base, sink }, async (run) => {
      await run.model("returned", (call) => {
        call.report({ finishReasons: ["stop"] });
        return "On its way.";
      });
      await run.model("reported", (call) => {
        call.report({ output: "On its way!" });
        return "parsed";
      });
      await run.model("empty", () => "");
      await run.model("no text", () => ({ text: "On its way." }));
    }),
  );
  const said = (name: string) =>
    spans.find((span) => span.name === `chat ${name}`)?.attributes["gen_ai.output.messages"];
  expect(said("returned")).toBe(JSON.stringify([answer("On its way.", "stop")]));
  expect(said("reported")).toBe(JSON.stringify([answer("On its way!")]));
  expect([said("empty"), said("no text")]).toEqual([undefined, undefined]);
});

describe("messages of the runtime", () => {
  it("are what a run is asked and answers", async () => {
    const spans = await spansOf(async (sink) => {
      await runAgent({ sink, ...base, input: "Where is it?" }, () => "On its way.");
      await runAgent({ sink, ...base, input: [{ role: "user", content: "Where?" }] }, () => ({
        role: "assistant",
        content: "Here.",
      }));
      await runAgent({ sink, ...base, input: ORDER }, () => ({ found: true }));
      await runAgent({ sink, ...base }, () => undefined);
      const handle = await startRun({ sink, ...base, input: "Where is it?" });
      await handle.complete("On its way.");
    });
    const json = '{"id":17,"when":"1970-01-01T00:00:00.000Z","total":1152921504606846976}';
    expect(runContent(spans)).toEqual([
      [[user(text("Where is it?"))], [answer("On its way.")]],
      [[user(text("Where?"))], [answer("Here.")]],
      [[user(text(json))], [answer('{"found":true}')]],
      [undefined, undefined],
      [[user(text("Where is it?"))], [answer("On its way.")]],
    ]);
  });

  it("are what a model is asked and answers, in the words of its provider", async () => {
    const spans = await spansOf((sink) =>
      runAgent({ sink, ...base }, async (run) => {
        const content = [
          { type: "text", text: "see" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        ];
        const input = [{ role: "user", content }];
        await run.model("claude", { input }, (call) => {
          const thinking = { type: "thinking", thinking: "hm", signature: "s" };
          const use = { type: "tool_use", id: "t1", name: "find", input: { id: 1 } };
          const output = { role: "assistant", content: [thinking, use], stop_reason: "tool_use" };
          call.report({ output });
        });
        const contents = [{ role: "user", parts: [{ text: "see" }] }];
        await run.model("gemini", { input: contents }, (call) => {
          call.report({ output: { candidates: [{ finishReason: "SAFETY" }] } });
        });
      }),
    );
    const [claude, gemini] = spans.filter(({ name }) => name.startsWith("chat"));
    const blob = { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" };
    expect(claude && messagesOn(claude, "input")).toEqual([user(text("see"), blob)]);
    expect(claude && messagesOn(claude, "output")).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "hm" },
          { type: "tool_call", id: "t1", name: "find", arguments: { id: 1 } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    expect(gemini && messagesOn(gemini, "output")).toEqual([
      { role: "assistant", parts: [], finish_reason: "content_filter" },
    ]);
  });

  it("of a paused run are what it asks", async () => {
    const spans = await spansOf(async (sink) => {
      const options = { sink, ...base, input: "pay Ann" };
      await rejection(
        runAgent(options, () => Promise.reject(interrupt({ type: "custom" }, "How much?"))),
      );
      await rejection(
        runAgent({ ...options, approve: () => "external" }, (run) =>
          Promise.all([
            run.tool("pay", { id: "c1", input: { to: "Ann" } }, () => 1),
            run.tool("mail", { id: "c2" }, () => 1),
          ]),
        ),
      );
      const kind = { type: "approval_pending", tool_use_id: "c1" } as const;
      await rejection(runAgent(options, () => Promise.reject(interrupt(kind, { ok: "?" }))));
    });
    expect(runContent(spans)).toEqual([
      [[user(text("pay Ann"))], [answer("How much?")]],
      [
        [user(text("pay Ann"))],
        [
          {
            role: "assistant",
            parts: [
              { type: "tool_call", id: "c1", name: "pay", arguments: { to: "Ann" } },
              { type: "tool_call", id: "c2", name: "mail" },
            ],
            finish_reason: "tool_call",
          },
        ],
      ],
      [[user(text("pay Ann"))], [answer('{"ok":"?"}')]],
    ]);
  });

  it("lose nothing else to a value without JSON", async () => {
    const cycle: Record<string, unknown> = { a: 1 };
    cycle.self = cycle;
    const bad = [
      cycle,
      { role: "tool", tool_call_id: "c", content: [cycle] },
      { role: "user", content: new Map([["a", 1]]) },
      { role: "user", content: "\ud800" },
    ];
    const spans = await spansOf((sink) =>
      runAgent({ sink, ...base, input: [...bad, { role: "user", content: "Where?" }] }, () => "x"),
    );
    expect(runContent(spans)[0]?.[0]?.at(-1)).toEqual(user(text("Where?")));
  });

  it("of 200 KB are shortened, with the newest question and the answer", async () => {
    const input = Array.from({ length: 400 }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: `${n} ${"é".repeat(250)}`,
    })).concat({ role: "user", content: "Where is my order?" });
    const spans = await spansOf((sink) =>
      runAgent({ sink, ...base, input }, (run) =>
        run.model("small-1", { input }, (call) => {
          call.report({ output: "On its way.", finishReasons: ["stop"] });
          return "On its way.";
        }),
      ),
    );
    expect(spans).toHaveLength(2);
    for (const span of spans) {
      expect(messagesOn(span, "input")?.at(-1)).toEqual(user(text("Where is my order?")));
      expect(messagesOn(span, "output")?.[0]?.parts).toEqual([text("On its way.")]);
      const { attributes } = span;
      expect(Buffer.byteLength(String(attributes["gen_ai.input.messages"]))).toBeLessThan(65_537);
      expect(attributes["entelix.content.cut_bytes"]).toBeGreaterThan(130_000);
      expect(attributes["entelix.content.dropped_messages"]).toBeGreaterThan(200);
    }
  });

  it("are nowhere unless content is captured", async () => {
    const spans = await spansOf(
      (sink) =>
        runAgent({ sink, ...base, input: "Where?" }, (run) =>
          run.model("small-1", { input: "Where?" }, (call) => call.report({ output: "Here." })),
        ),
      false,
    );
    expect(spans).toHaveLength(2);
    expect(contentNames(spans)).toEqual([]);
  });
});

describe("messages of events that are sent by hand", () => {
  const run = new RunEvents("018f3c7a-0000-7000-8000-000000000009");

  function sent(redact?: (value: unknown) => unknown) {
    const test = bench({ captureContent: true, ...(redact === undefined ? {} : { redact }) });
    test.at(0, run.started(), { details: { input: "Where is it?" } });
    test.at(1, run.modelStart("m1", { input: [{ role: "user", content: "Where is it?" }] }));
    test.at(2, run.modelComplete("m1", { output: { role: "assistant", content: "Here." } }));
    test.at(3, run.complete(), { details: { output: "Here." } });
    return test.spans();
  }

  it("have the form, also after whatever a redaction hook makes of them", () => {
    expect(expectMessageForm(sent())).toBe(4);
    expect(runContent(sent())).toEqual([[[user(text("Where is it?"))], [answer("Here.")]]]);
    const hooks: readonly ((value: unknown) => unknown)[] = [
      () => "[redacted]",
      () => ({ hidden: true }),
      () => [{ role: "user" }],
      () => [null, 7],
      (value) => JSON.parse(JSON.stringify(value).replaceAll("content", "text")),
    ];
    for (const hook of hooks) expect(expectMessageForm(sent(hook))).toBe(4);
    expect(contentNames(sent(() => undefined))).toEqual([]);
  });
});
