import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortened, shortenedTexts } from "../../../src/bridge/spans/shortened-content.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { RecorderSink } from "../../../src/entries/sinks.ts";
import { Conversation, keptTexts } from "../../../src/events/door.ts";
import { bench, RunEvents } from "../../support/run-events.ts";
import { runs } from "../../support/runs.ts";

// Messages of a conversation whose JSON is kept: spans and recordings are those of equal messages that are not.

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");

const said = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value));

describe("messages whose JSON is kept", () => {
  it("are shortened as others, call by call", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.nat(4_000).map((n) => '"é'.repeat(n)),
    );
    const message = fc.record({
      role: fc.constantFrom("user", "assistant", "tool"),
      parts: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("text"), content: text }),
          fc.record({ type: fc.constant("tool_call"), name: text, arguments: fc.jsonValue() }),
          fc.record({ type: fc.constant("tool_call_response"), response: fc.jsonValue() }),
          fc.record({
            type: fc.constant("blob"),
            modality: fc.constant("image"),
            content: fc.nat(9_000).map((n) => "A".repeat(n)),
          }),
        ),
        { maxLength: 4 },
      ),
    });
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 64, max: 20_000 }),
        (messages, limit) => {
          const conversation = new Conversation();
          for (let count = 1; count <= messages.length; count += 1) {
            const list = messages.slice(0, count);
            const texts = keptTexts(conversation.messages(list));
            const short = texts && shortenedTexts(texts, limit);
            expect(short).toEqual(shortened(copyOf(list), limit, "messages"));
          }
          conversation.end();
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("are cut to the same text in most calls of a long conversation", () => {
    const conversation = new Conversation();
    const messages = [said("user", "Where is my order?")];
    const cuts = new Set<string>();
    let calls = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      messages.push(said("assistant", `${turn} ${"x".repeat(1_500 + (turn % 7))}`));
      const texts = keptTexts(conversation.messages(messages)) ?? [];
      const { cutBytes, text } = shortenedTexts(texts, 65_536);
      if (cutBytes === 0) continue;
      calls += 1;
      for (const { parts } of JSON.parse(text)) cuts.add(parts[0].content);
    }
    conversation.end();
    // Each call has more than 40 messages. Without steps, each would be cut anew.
    expect(calls).toBeGreaterThan(150);
    expect(cuts.size).toBeLessThan(200 * 6);
  });

  it("are recorded as others", async () => {
    const conversation = new Conversation();
    const list = [
      said("user", "Where?"),
      said("assistant", 'Here: "é"'),
      { ...said("tool", ""), n: 1 },
    ];
    const kept = conversation.messages(list);
    expect(keptTexts(kept)).toHaveLength(3);
    const line = async (input: unknown) => {
      let text = "";
      const stream = new Writable({
        write(chunk, _, done) {
          text += chunk;
          done();
        },
      });
      const recorder = new RecorderSink({ stream, clock: () => [0, 0] });
      await recorder.send(run.modelStart("m1", { input }), { event_id: "e", sequence: 0 });
      await recorder.shutdown();
      return text;
    };
    expect(await line(kept)).toBe(await line(copyOf(list)));
    conversation.end();
  });
});

describe("a redaction hook", () => {
  const question = said("user", "I am Ann");
  const answer = said("assistant", "Hello Ann");

  /** Two calls of a model, the second one with one message more. @returns the messages on both spans. */
  function calls(options: TelemetryOptions, of = run) {
    const conversation = new Conversation();
    const test = bench({ captureContent: true, ...options });
    test.at(0, of.started());
    const first = conversation.messages([question]);
    test.at(1, of.modelStart("m1", { input: first }));
    test.at(2, of.modelComplete("m1"));
    test.at(3, of.modelStart("m2", { input: conversation.messages([question, answer]) }));
    test.at(4, of.modelComplete("m2"));
    test.at(5, of.complete());
    conversation.end();
    const chats = test.spans().filter(({ name }) => name.startsWith("chat"));
    return { test, texts: chats.map(({ attributes }) => attributes["gen_ai.input.messages"]) };
  }

  const hide = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll("Ann", "***"));

  it("gets all messages of each call, since it may depend on all of them", () => {
    const seen: unknown[] = [];
    const { texts } = calls({
      redact(value, { attribute }) {
        if (attribute === "gen_ai.input.messages") seen.push(copyOf(value));
        return hide(value);
      },
    });
    expect(seen).toEqual([[question], [question, answer]]);
    expect(texts).toEqual([
      JSON.stringify(hide([question])),
      JSON.stringify(hide([question, answer])),
    ]);
  });

  it("gets each message once with `redactOnce`, and the spans are the same", () => {
    const seen: unknown[] = [];
    const { texts } = calls({
      redactOnce: true,
      redact(value, { attribute, runId }) {
        if (attribute === "gen_ai.input.messages") seen.push([runId, copyOf(value)]);
        return hide(value);
      },
    });
    expect(seen).toEqual([
      [run.run_id, [question]],
      [run.run_id, [answer]],
    ]);
    expect(texts).toEqual(calls({ redact: hide }).texts);
  });

  it("gets messages that are not kept by themselves, too, with `redactOnce`", () => {
    const seen: unknown[] = [];
    const test = bench({
      captureContent: true,
      redactOnce: true,
      redact(value, { attribute }) {
        if (attribute === "gen_ai.input.messages") seen.push(copyOf(value));
        return hide(value);
      },
    });
    test.at(0, run.started());
    test.at(1, run.modelStart("m1", { input: [question, answer] }));
    test.at(2, run.modelComplete("m1"));
    test.at(3, run.complete());
    expect(seen).toEqual([[question], [answer]]);
    expect(test.find("chat small-1").attributes["gen_ai.input.messages"]).toBe(
      JSON.stringify(hide([question, answer])),
    );
  });

  it("is asked again after it failed, and what it returned cannot change later", () => {
    let asked = 0;
    const given = said("user", "shown");
    const { test, texts } = calls({
      redactOnce: true,
      onError() {},
      redact(value, { attribute }) {
        if (attribute !== "gen_ai.input.messages") return value;
        asked += 1;
        if (asked === 1) throw new Error("down");
        if (!JSON.stringify(value).includes("I am")) given.parts = [];
        return [given];
      },
    });
    expect(texts[0]).toContain("[redaction failed]");
    expect(texts[1]).toBe(JSON.stringify([said("user", "shown"), { role: "user", parts: [] }]));
    expect(asked).toBe(3);
    expect(test.diagnostics().redactionFailures).toBe(1);
  });

  it("is asked for each tenant", () => {
    const conversation = new Conversation();
    const input = conversation.messages([question]);
    const tenants: string[] = [];
    const test = bench({
      captureContent: true,
      redactOnce: true,
      redact(value, { tenantId }) {
        tenants.push(tenantId);
        return value;
      },
    });
    for (const [at, tenant] of ["acme", "beta"].entries()) {
      const of = new RunEvents(`018f3c7a-0000-7000-8000-00000000001${at}`, tenant);
      test.at(at, of.started());
      test.at(at, of.modelStart("m1", { input }));
    }
    expect(tenants).toEqual(["acme", "beta"]);
    conversation.end();
  });
});
