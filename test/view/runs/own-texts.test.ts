import { describe, expect, it } from "vitest";
import { ownText, withOwnTexts } from "../../../src/view/runs/own-texts.ts";

describe("texts of the index", () => {
  it("are equal to what they are copied of", () => {
    for (const text of ["", "short", "a longer text, é, 漢字, 🎈".repeat(5)]) {
      expect(ownText(text)).toBe(text);
    }
  });

  it("of a story are copied in all of its fields", () => {
    const long = "a text that is longer than a few characters";
    const decision = { call_id: long, tool: long, outcome: "denied", at_ms: 1, person: long };
    const story = { question: long, answer: "b", decisions: [decision], user: long, model: "m" };
    expect(withOwnTexts(story, {})).toEqual(story);
    expect(withOwnTexts(story, { question: long, user: "other" })).toEqual(story);
    expect(withOwnTexts(story, story)).toBe(story);
    const lists = { models: [long], tools: [long], tags: [long], tool_inputs: long };
    const copied = withOwnTexts(lists, {});
    expect(copied).toEqual(lists);
    for (const name of ["models", "tools", "tags"] as const) {
      expect(copied[name]).not.toBe(lists[name]);
      expect(withOwnTexts({ ...copied, question: long }, copied)[name]).toBe(copied[name]);
    }
  });
});
