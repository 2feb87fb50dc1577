import { describe, expect, it } from "vitest";
import { MODEL_EVENT_TYPES, parseExact } from "../../src/entries/events.ts";
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
