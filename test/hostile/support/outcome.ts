import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readRows } from "../../../src/entries/audit.ts";
import { contentsBySpan } from "../../e2e/support/span-sets.ts";
import { until } from "../../e2e/support/until.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import type { Trial } from "../trial.ts";
import { runCommand } from "./run-command.ts";

/** What came of some events: by its key each span and each row, with the contents it was found with. */
export interface Outcome {
  readonly spans: Contents;
  readonly rows: Contents;
}

type Contents = ReadonlyMap<string, readonly string[]>;

/** The resource is a part of a span's content: this is every program's. */
export const SERVICE = ["--service-name", "hostile"] as const;

/**
 * What is expected of events: what one replay of them makes, in this order, of one file.
 *
 * @param name of the files in the trial's folder.
 */
export async function replayed(
  trial: Trial,
  lines: readonly string[],
  name = "reference",
): Promise<Outcome> {
  const folder = await trial.folder();
  const file = join(folder, `${name}.ndjson`);
  const audit = join(folder, name);
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  await using receiver = await OtlpServer.start();
  const args = ["replay", file, "--endpoint", receiver.url, "--audit", audit, ...SERVICE];
  const { code, stderr } = await runCommand(trial, args);
  trial.equal("exit code of the reference replay", [code, stderr], [0, ""]);
  return outcomeOf(receiver, audit);
}

/** What a receiver and an audit log have now. Of a span that came twice unchanged one is told. */
export async function outcomeOf(receiver: OtlpServer, audit: string): Promise<Outcome> {
  const rows = new Map<string, string[]>();
  for await (const { event: _, ...row } of readRows(audit)) {
    const id = `${row.tenant_id} ${row.event_id}`;
    rows.set(id, [...(rows.get(id) ?? []), JSON.stringify(row)]);
  }
  return { spans: contentsBySpan(receiver.spans), rows };
}

/** Waits until a receiver has so many spans, or the bound is over: then some are lost, which is told later. */
export async function spansArrive(
  receiver: OtlpServer,
  count: number,
  isOurs: (entry: readonly [string, readonly string[]]) => boolean = () => true,
): Promise<void> {
  const have = () => [...contentsBySpan(receiver.spans)].filter(isOurs).length;
  const arrived = () => (have() >= count ? true : undefined);
  await until(`${count} spans`, arrived, { timeoutMs: ARRIVAL_MS, everyMs: 200 }).catch(() => {});
}

/** How long spans may take to arrive, in ms. */
const ARRIVAL_MS = 60_000;

/** Tells a trial of every span and row that is missing, is there twice, differs, or was not expected. */
export function compareOutcomes(trial: Trial, found: Outcome, expected: Outcome): void {
  compare(trial, "span", found.spans, expected.spans);
  compare(trial, "row", found.rows, expected.rows);
}

function compare(trial: Trial, what: string, found: Contents, expected: Contents): void {
  const lost: string[] = [];
  const doubled: string[] = [];
  const altered: string[] = [];
  for (const [key, [content = ""]] of expected) {
    const here = found.get(key) ?? [];
    if (here.length === 0) lost.push(content);
    else if (here.length > 1) doubled.push(here.join(" and "));
    else if (here[0] !== content) altered.push(`${here[0]} in place of ${content}`);
  }
  const more = [...found].filter(([key]) => !expected.has(key)).map(([, [content]]) => content);
  const tell = (harm: Parameters<Trial["harm"]>[0], all: readonly (string | undefined)[]) =>
    trial.harm(harm, `each ${what} as one replay makes it`, `${all[0]}`, all.length);
  tell("lost", lost);
  tell("doubled", doubled);
  tell("altered", altered);
  tell("unexpected", more);
}
