import { describe, expect, it } from "vitest";
import {
  AGENT_EVENT_TYPES,
  MODEL_EVENT_TYPES,
  parseExact,
  STEP_EVENT_TYPES,
} from "../../src/entries/events.ts";
import { entelixDialect } from "../../src/entries/replay.ts";
import { isJsonObject } from "../../src/replay/door.ts";
import { codeBlocks, readPage, section, tableRows } from "./pages.ts";

const part = section(readPage("docs/dialect-entelix.md"), "Model calls");

describe("the section on model calls in entelix's events", () => {
  it("gives each of the three its place", () => {
    expect(tableRows(part).map(([type]) => type)).toEqual([...MODEL_EVENT_TYPES]);
  });

  it("shows lines that are read", () => {
    const [block] = codeBlocks(part);
    const lines = block?.text.trim().split(/\n(?=\{)/) ?? [];
    const outcomes = lines.map((text) => {
      const value = parseExact(text);
      return isJsonObject(value) ? entelixDialect.decode(value).outcome : text;
    });
    expect(outcomes).toEqual(["event", "event"]);
  });
});

describe("the number of event types", () => {
  const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
  const OWN = [...MODEL_EVENT_TYPES, ...STEP_EVENT_TYPES, "tool_call_asked"];

  it.each([
    ["CHANGELOG.md", "nine events and the errors of entelix", "seven more event types"],
    ["docs/dialect-entelix.md", "reads the nine events", "adds seven types"],
    ["docs/recordings.md", undefined, "adds seven types"],
  ])("is the same in %s", (file, ofEntelix, own) => {
    const page = readPage(file).replaceAll(/\s+/g, " ");
    for (const [text, types] of [
      [ofEntelix, AGENT_EVENT_TYPES],
      [own, OWN],
    ] as const) {
      if (text === undefined) continue;
      expect(page).toContain(text);
      expect(text.split(" ")).toContain(NUMBERS[types.length]);
    }
  });
});
