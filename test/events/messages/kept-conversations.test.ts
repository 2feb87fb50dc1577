import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { Conversation } from "../../../src/events/messages/conversation.ts";
import { keptConversations } from "../../../src/events/messages/kept-conversations.ts";
import { Bridge } from "../../../src/index.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

describe("the memory of conversations", () => {
  const all: Conversation[] = [];
  afterEach(() => {
    for (const one of all.splice(0)) one.end();
  });

  /** A conversation with a message of so many million characters. */
  function conversation(millions: number) {
    const made = new Conversation();
    const list = [{ role: "user", content: "x".repeat(millions * 1024 * 1024) }];
    all.push(made);
    return { made, messages: () => made.messages(list)[0] };
  }

  it("is free again when its run ends", () => {
    const before = keptConversations.bytes;
    const { made, messages } = conversation(1);
    messages();
    expect(keptConversations.bytes - before).toBeGreaterThan(1024 * 1024);
    made.end();
    expect(keptConversations.bytes).toBe(before);
    expect(made.bytes).toBe(0);
    const bridge = new Bridge({ metrics: false });
    const { bytes, forgotten } = keptConversations;
    expect(bridge.diagnostics().keptMessages).toEqual({ bytes, forgotten });
  });

  it("does not grow with a message that is changed, or that equals nothing", () => {
    const made = new Conversation();
    all.push(made);
    const message: Record<string, unknown> = { role: "user", content: "old" };
    made.messages([message]);
    const { bytes } = made;
    for (const content of ["one", "two", "new"]) {
      message.content = content;
      made.messages([message]);
    }
    expect(made.bytes).toBe(bytes);
    message.score = Number.NaN;
    made.messages([message]);
    expect(made.bytes).toBe(0);
  });

  it("counts what was converted before a message threw", () => {
    const before = keptConversations.bytes;
    const made = new Conversation();
    all.push(made);
    let reads = 0;
    const view = (each: unknown) => {
      reads += each === "bad" ? 1 : 0;
      if (each === "bad" && reads % 2 === 1) throw new Error("no view");
      return each;
    };
    for (const content of ["one", "two", "three"]) {
      expect(made.messages([{ role: "user", content }, "bad"], view)).toHaveLength(2);
    }
    expect(made.bytes).toBeGreaterThan(0);
    expect(keptConversations.bytes - before).toBe(made.bytes);
    made.end();
    expect(keptConversations.bytes).toBe(before);
  });

  it("has no message whose size is not known", async () => {
    const made = new Conversation();
    all.push(made);
    const convert = () => {
      const own = { whole: "x".repeat(1024) };
      const parts = [
        { type: "text", content: "a" },
        { type: "own", at: new Date(0), own },
      ];
      expect(made.messages([{ role: "user", parts }])).toHaveLength(1);
      return new WeakRef(own);
    };
    const kept = convert();
    expect(made.bytes).toBe(0);
    // A weak reference holds its value until the end of the turn.
    await setImmediate();
    collect();
    expect(kept.deref()).toBeUndefined();
  });

  it("is bounded: the one that was used longest ago is forgotten, and counted", () => {
    const { forgotten } = keptConversations;
    const [first, second, third] = [conversation(14), conversation(14), conversation(14)];
    const [one, two] = [first.messages(), second.messages()];
    expect(first.messages()).toBe(one);
    third.messages();
    expect(keptConversations.forgotten).toBe(forgotten + 1);
    expect(keptConversations.bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
    expect(first.messages()).toBe(one);
    expect(second.messages()).not.toBe(two);
  });
});
