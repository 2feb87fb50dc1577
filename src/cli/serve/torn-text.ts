import type { JournalTorn } from "../../ingest/journal/mend-segment.ts";
import { counted } from "../terminal/figures.ts";

/** Places of a file that are told one by one. */
const MOST = 20;

/** What a service says of damaged places in its journal that it has set aside. */
export function tornTexts(torn: readonly JournalTorn[]): readonly string[] {
  const texts = torn.slice(0, MOST).map(tornText);
  const more = torn.slice(MOST);
  const [next] = more;
  if (next !== undefined) {
    const bytes = more.reduce((sum, each) => sum + each.bytes, 0);
    const missing = more.reduce((sum, each) => sum + (each.missing ?? 0), 0);
    texts.push(
      `journal: ${next.file}, line ${next.line} and below: ${counted(more.length, "more place")} like this, ` +
        `${counted(bytes, "byte")}, ${counted(missing, "line")} missing`,
    );
  }
  return [...texts, 'journal: what to do: docs/operations.md, "Lines set aside"'];
}

function tornText({ bytes, copy, file, line, missing, offset }: JournalTorn): string {
  const expected = `the record of offset ${offset} or the end mark`;
  const found = bytes === 0 ? "neither" : `${counted(bytes, "damaged byte")}, copied to ${copy}`;
  const gone =
    missing === undefined
      ? "the number of missing lines is unknown"
      : `${counted(missing, "line")} missing`;
  return `journal: ${file}, line ${line}: expected ${expected}, found ${found}; ${gone}`;
}
