import { v7 } from "uuid";

const RUN_ID = /"run_id":"([^"]+)"/g;

/**
 * New run ids in place of the recorded ones, so that every demo makes traces of its own. The same
 * recorded id becomes the same new one wherever it stands: as a parent, as the run that is resumed,
 * in a payload, in another recording.
 */
export class FreshRunIds {
  readonly #fresh = new Map<string, string>();

  /** The text of a recording with new run ids. */
  rename(text: string): string {
    for (const [, runId = ""] of text.matchAll(RUN_ID)) {
      if (!this.#fresh.has(runId)) this.#fresh.set(runId, v7());
    }
    let renamed = text;
    for (const [recorded, fresh] of this.#fresh) renamed = renamed.replaceAll(recorded, fresh);
    return renamed;
  }
}
