import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventJournal } from "../../../../src/service/journal/event-journal.ts";
import type { LogLine, NewLine } from "../../../../src/service/journal/log-line.ts";

/** A line of acme's that tells itself from others. */
export function line(text: string, fields: Partial<NewLine> = {}): NewLine {
  return { text, tenant: "acme", dialect: "entelix", key: undefined, trusted: false, ...fields };
}

export function lines(count: number, prefix = "n"): NewLine[] {
  return Array.from({ length: count }, (_, index) => line(`${prefix}${index}`));
}

/** All that comes. */
export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of source) found.push(each);
  return found;
}

export async function texts(journal: EventJournal, from = journal.first): Promise<string[]> {
  return (await all(journal.read(from))).map(({ text }) => text);
}

/** Offset and text of each. */
export function brief(read: readonly LogLine[]): string[] {
  return read.map(({ offset, text }) => `${offset} ${text}`);
}

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "journal-"));
}
