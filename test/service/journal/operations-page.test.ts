import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import { codeBlocks, readPage, section } from "../../docs/pages.ts";
import { line, temporaryFolder } from "./support/lines.ts";

/** How one tenant's lines are taken out of a journal that is damaged. */
const recipe = codeBlocks(section(readPage("docs/operations.md"), "It does not start"))
  .map(({ text }) => text)
  .join("");

it("takes the lines of one tenant out of a journal, whatever the lines of others hold", async () => {
  const folder = await temporaryFolder();
  try {
    const own = ['{"a":"tab\\t and\ttab"}', '{"b":"é漢"}'];
    const journal = await EventJournal.open(folder);
    await journal.append([
      line(own[0] ?? ""),
      line('{"input":{"tenant":"acme"}}', { tenant: "other" }),
      line('{"trusted":false,"tenant":"acme","dialect":"entelix"}\t', { tenant: undefined }),
      line("{}", { tenant: '","tenant":"acme"' }),
      line("{}", { tenant: "acme2" }),
      line(own[1] ?? "", { trusted: true, dialect: undefined }),
    ]);
    await journal.close();
    expect(recipe).toContain("/backup/journal/");
    execFileSync("sh", ["-c", recipe.replaceAll("/backup/journal", folder)], { cwd: folder });
    expect(await readFile(join(folder, "acme.ndjson"), "utf8")).toBe(`${own.join("\n")}\n`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
