import { afterEach, describe, expect, it } from "vitest";
import { Conversation } from "../../../src/events/messages/conversation.ts";
import { keptConversations } from "../../../src/events/messages/kept-conversations.ts";
import { Bridge } from "../../../src/index.ts";

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
