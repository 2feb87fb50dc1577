import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT, readPage, section, tableRows } from "./pages.ts";

const page = readPage("docs/view-format.md");
const source = readFileSync(join(ROOT, "src/view/format.ts"), "utf8");
const file = ts.createSourceFile("format.ts", source, ts.ScriptTarget.Latest, true);

/** Each interface of the format, with its fields as the page writes them. */
const interfaces = file.statements.filter(ts.isInterfaceDeclaration).map(({ members, name }) => ({
  name: name.text,
  fields: members.map(
    ({ name, questionToken }) => `${name?.getText()}${questionToken === undefined ? "" : "?"}`,
  ),
}));

describe("docs/view-format.md", () => {
  it("has every part of the format", () => {
    const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings.toSorted()).toEqual(interfaces.map(({ name }) => name).toSorted());
  });

  it.each(interfaces)("has the fields of $name, in their order", ({ fields, name }) => {
    const rows = tableRows(section(page, name));
    expect(rows.map(([field]) => field)).toEqual(fields);
    for (const [field, type = "", meaning = ""] of rows) {
      expect(
        [type.length, meaning.length].every((length) => length > 0),
        field,
      ).toBe(true);
    }
  });
});
