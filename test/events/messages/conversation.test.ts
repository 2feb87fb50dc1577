import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Conversation } from "../../../src/events/messages/conversation.ts";
import { keptTexts } from "../../../src/events/messages/message-text.ts";
import { toMessages } from "../../../src/events/messages/to-messages.ts";
import { runs } from "../../support/runs.ts";

const text = fc.string({ maxLength: 12 });
const json = fc.jsonValue({ maxDepth: 2 });

/** Entries of lists in the forms of several providers, and some that are no messages. */
const entry = fc.oneof(
  { weight: 4, arbitrary: fc.record({ role: fc.constantFrom("user", "system"), content: text }) },
  {
    weight: 3,
    arbitrary: fc.record({
      role: fc.constant("assistant"),
      content: fc.oneof(text, fc.array(fc.record({ type: fc.constant("text"), text }))),
      tool_calls: fc.array(
        fc.record({ id: text, function: fc.record({ name: text, arguments: text }) }),
        { maxLength: 2 },
      ),
    }),
  },
  fc.record({ role: fc.constant("tool"), tool_call_id: text, content: json }),
  fc.record({
    role: fc.constantFrom("user", "assistant"),
    parts: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("text"), content: text }),
        fc.record({ type: fc.constant("tool_call"), name: text, arguments: json }),
      ),
    ),
  }),
  fc.record({ type: fc.constant("function_call"), callId: text, name: text, arguments: text }),
  fc.record({ type: fc.constant("function_call_result"), callId: text, output: json }),
  fc.record({ type: fc.constant("reasoning"), content: fc.array(fc.record({ text })) }),
  fc.record({
    role: fc.constant("user"),
    content: fc.constant([{ type: "image", image: "AAAA" }]),
  }),
  fc.constantFrom<unknown>(null, "a text", 7, { other: 1 }, { role: "user", content: new Date(0) }),
);

/** Changes something in a value, in place. */
function change(value: unknown, at: number): void {
  if (typeof value !== "object" || value === null) return;
  const names = Object.keys(value);
  const name = names[at % Math.max(1, names.length)];
  const inner: unknown = name === undefined ? undefined : Reflect.get(value, name);
  if (Array.isArray(value) && at % 3 === 0) value.push({ type: "text", text: "added" });
  else if (typeof inner === "object" && inner !== null && at % 2 === 0) change(inner, at >> 1);
  else if (name === undefined) Reflect.set(value, "added", at);
  else if (typeof inner === "string" && name !== "type") Reflect.set(value, name, `${inner}!`);
  else if (at % 5 === 0) Reflect.deleteProperty(value, name);
}

describe("the messages of a conversation", () => {
  it("are those that are converted anew, however the list grows and changes", () => {
    const step = fc.record({
      added: fc.array(entry, { maxLength: 3 }),
      changed: fc.option(fc.tuple(fc.nat(20), fc.nat(60))),
      removed: fc.boolean(),
      cloned: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const conversation = new Conversation();
        let list: unknown[] = [];
        for (const { added, changed, cloned, removed } of steps) {
          list.push(...structuredClone(added));
          if (removed) list.shift();
          if (changed !== null) change(list[changed[0] % Math.max(1, list.length)], changed[1]);
          if (cloned) list = structuredClone(list);
          const messages = conversation.messages(list);
          const anew = toMessages(structuredClone(list));
          expect(JSON.stringify(messages)).toBe(JSON.stringify(anew));
        }
        conversation.end();
      }),
      { numRuns: runs(2_000) },
    );
  });

  const call = { id: "c", function: { name: "add", arguments: '{"a":1}' } };

  it("are made once, for the same objects and for clones at the same position", () => {
    const list: unknown[] = [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "text", text: "one" }], tool_calls: [call] },
      { type: "function_call", callId: "d", name: "sub", arguments: "{}" },
    ];
    const conversation = new Conversation();
    const first = conversation.messages(list);
    const result = { type: "function_call_result", callId: "d", output: "2" };
    const second = conversation.messages([...list, result]);
    const cloned = conversation.messages(structuredClone([...list, result]));
    const shorter = conversation.messages(list.slice(1));
    expect(second.slice(0, 3).map((one, at) => one === first[at])).toEqual([true, true, true]);
    expect(cloned.map((one, at) => one === second[at])).toEqual([true, true, true, true]);
    expect(shorter.map((one, at) => one === first[at + 1])).toEqual([true, true]);
    expect(keptTexts(cloned)?.map((one) => one.write())).toEqual(
      toMessages([...list, result]).map((one) => JSON.stringify(one)),
    );
  });

  type Changed = Record<string, unknown>;
  const changes: readonly [string, (message: Changed) => unknown][] = [
    ["its content", (message) => Object.assign(message, { content: "new" })],
    ["a part", (message) => Object.assign(inner(message, "content"), { text: "new" })],
    ["its parts", (message) => list(message.content).push({ type: "text", text: "new" })],
    ["a call", (message) => Object.assign(inner(message, "tool_calls"), { id: "new" })],
    ["its calls", (message) => list(message.tool_calls).splice(0, 1)],
    ["a call's input", (message) => Object.assign(inner(message, "tool_calls"), { args: [] })],
    ["a field that it had not", (message) => Object.assign(message, { name: "new" })],
    ["a field that it has no more", (message) => Reflect.deleteProperty(message, "content")],
  ];
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const inner = (message: Changed, name: string) => Object(list(message[name])[0]);

  it.each(changes)("are new after a change in place: %s", (_, change) => {
    const message = () => ({
      role: "assistant",
      content: [{ type: "text", text: "old" }],
      tool_calls: [{ id: "c", name: "add", args: { a: "old" } }],
    });
    const changed = message();
    const conversation = new Conversation();
    const before = conversation.messages([changed]);
    expect(before).toEqual(toMessages([message()]));
    change(changed);
    expect(conversation.messages([changed])).toEqual(toMessages([structuredClone(changed)]));
    expect(conversation.messages([changed])).not.toEqual(before);
    // What was sent before stays.
    expect(before).toEqual(toMessages([message()]));
  });

  it("of a framework's own form are converted again if a field that is read has changed", () => {
    const message = { body: "old", other: 1 };
    const conversation = new Conversation();
    const read = () =>
      conversation.messages([message], (each) => ({
        role: "human",
        content: Reflect.get(Object(each), "body"),
      }))[0];
    const first = read();
    expect(first).toEqual({ role: "user", parts: [{ type: "text", content: "old" }] });
    message.other = 2;
    expect(read()).toBe(first);
    message.body = "new";
    expect(read()).toEqual({ role: "user", parts: [{ type: "text", content: "new" }] });
  });

  it("are converted again if a field was replaced by one without a value", () => {
    const one = { role: "user", content: "old" };
    const proto: unknown = JSON.parse('{"role":"user","__proto__":{}}');
    for (const other of [
      { role: "user", name: undefined },
      { a: undefined, b: undefined },
      proto,
    ]) {
      const conversation = new Conversation();
      conversation.messages([one]);
      const given = [other, { role: "user", content: "new" }];
      expect(conversation.messages(given)).toEqual(toMessages(given));
      conversation.end();
    }
  });

  it("cannot be changed by a sink", () => {
    const [message] = new Conversation().messages([
      { role: "user", content: [{ type: "x", y: {} }] },
    ]);
    expect(Object.isFrozen(message)).toBe(true);
    expect(Object.isFrozen(message?.parts)).toBe(true);
    expect(Object.isFrozen(message?.parts[0])).toBe(true);
  });

  it("with values that JSON does not have are converted each time", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const message = {
      role: "user",
      content: [{ type: "file", data: bytes, mediaType: "image/png" }],
    };
    const conversation = new Conversation();
    const first = conversation.messages([message]);
    expect(first).toEqual(toMessages([message]));
    bytes[0] = 9;
    expect(conversation.messages([message])).toEqual(toMessages([message]));
    expect(conversation.messages([message])).not.toEqual(first);
    const big = { role: "user", parts: [{ type: "x", n: 2n ** 60n }] };
    expect(conversation.messages([big])).toEqual([big]);
    expect(keptTexts(conversation.messages([big]))).toBeUndefined();
  });
});
