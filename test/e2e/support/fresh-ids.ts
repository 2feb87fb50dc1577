import { v7 } from "uuid";
import type { Recording } from "./recording.ts";

const RUN_ID = /"(?:\w+_)?run_id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g;

/**
 * New run ids in place of recorded ones, wherever they stand and in all their forms: with dashes, as
 * a trace id, as a span id. So the expected trees of a recording can be renamed like its events.
 */
export class FreshIds {
  readonly #fresh = new Map<string, string>();

  constructor(recordings: readonly Recording[]) {
    for (const { lines } of recordings) {
      for (const { text } of lines) {
        for (const [, runId = ""] of text.matchAll(RUN_ID)) {
          if (!this.#fresh.has(runId)) this.#fresh.set(runId, v7());
        }
      }
    }
  }

  /** The new id of a recorded run. */
  of(runId: string): string {
    const fresh = this.#fresh.get(runId);
    if (fresh === undefined) throw new Error(`${runId}: no such run was recorded`);
    return fresh;
  }

  readonly rename = (text: string): string => {
    let renamed = text;
    for (const [recorded, fresh] of this.#fresh) {
      for (const form of [dashed, traceId, spanId]) {
        renamed = renamed.replaceAll(form(recorded), form(fresh));
      }
    }
    return renamed;
  };
}

const dashed = (runId: string) => runId;
const spanId = (runId: string) => traceId(runId).slice(16);

/** The trace id of a root run. */
export function traceId(runId: string): string {
  return runId.replaceAll("-", "");
}
