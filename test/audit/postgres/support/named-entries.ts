import { type NamedThread, namedThread } from "../../../../src/audit/audit-row.ts";
import type { AppendCall } from "../../../../src/audit/postgres/append-batch.ts";
import { type EntryText, encodeEntry } from "../../../../src/audit/row-text.ts";
import { entry } from "../../support/entries.ts";

export function named(thread_id: string): NamedThread {
  return namedThread({ tenant_id: "acme", thread_id });
}

/** Entries of a thread, each with its event id, or without where there is none. */
export function texts(thread: NamedThread, ...ids: (string | null)[]): EntryText[] {
  return ids.map((event_id) => encodeEntry(entry(event_id ?? "none", { event_id }), thread));
}

export function call(thread_id: string, ...ids: (string | null)[]): AppendCall {
  const thread = named(thread_id);
  return { thread, entries: texts(thread, ...ids) };
}
