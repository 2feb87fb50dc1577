import type { Readable } from "node:stream";
import type { Io } from "../../../src/cli/door.ts";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { RunDetail, RunList } from "../../../src/view/format.ts";
import type { SourcesOptions, ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { memoryIo } from "../../cli/support/memory-io.ts";

export const ALL: SourcesOptions = { follow: false, content: true };

/** A process around a command whose output no test reads. */
export function silentIo(stdin?: Readable): Io {
  return memoryIo(stdin).io;
}

/** Opens sources, reads all of them, and closes them after the work. */
export async function withRuns<T>(
  places: readonly string[],
  options: SourcesOptions,
  work: (runs: ViewedRuns) => Promise<T>,
): Promise<T> {
  const runs = await openSources(places, options, silentIo());
  try {
    await runs.ready();
    return await work(runs);
  } finally {
    await runs.close();
  }
}

/** The whole list, as the page reads it. */
export function listOf(runs: ViewedRuns, since?: number): RunList {
  const list: RunList = JSON.parse([...runs.listJson(since)].join(""));
  return list;
}

/** What is known of every run, by key. */
export async function detailsOf(runs: ViewedRuns): Promise<Map<string, RunDetail>> {
  const details = new Map<string, RunDetail>();
  for (const { key } of listOf(runs).runs) {
    const detail = await runs.detail(key);
    if (detail !== undefined) details.set(key, detail);
  }
  return details;
}
