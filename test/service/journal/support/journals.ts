import { EventJournal } from "../../../../src/service/journal/event-journal.ts";

/** Opens the journal of a folder, as `serve` does. */
export function openJournal(...given: Parameters<typeof EventJournal.open>): Promise<EventJournal> {
  return EventJournal.open(...given);
}

/** The texts of all lines that a journal keeps. */
export async function keptTexts(journal: EventJournal): Promise<readonly string[]> {
  const kept: string[] = [];
  for await (const { text } of journal.read(journal.first)) kept.push(text);
  return kept;
}
