import { expect, it } from "vitest";
import { readRow, withEvent } from "../../src/audit/stored-row.ts";
import { codeBlocks, readPage, section } from "../docs/pages.ts";

const page = readPage("docs/audit.md");

it("the row of docs/audit.md is one: hash and digest hold", () => {
  const [block] = codeBlocks(section(page, "A row"));
  const line = block?.text.replace(/\n */g, "") ?? "";
  const reading = readRow(line);
  expect(reading.problem).toBeUndefined();
  const row = reading.problem === undefined ? withEvent(reading.row) : undefined;
  expect(row?.event.kind).toBe("tool_result");
});
