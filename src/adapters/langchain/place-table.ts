import type { Place } from "./place.ts";
import type { RunState } from "./run-state.ts";

/** The open LangChain runs by their ids; the oldest are forgotten beyond a bound. */
export class PlaceTable {
  readonly #most: number;
  readonly #places = new Map<string, Place>();
  /** How many were forgotten before their end was told. */
  forgotten = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(id: string | undefined): Place | undefined {
    return id === undefined ? undefined : this.#places.get(id);
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  set(id: string, place: Place): void {
    if (this.#places.size >= this.#most) this.#forgetOldest();
    this.#places.set(id, place);
  }

  delete(id: string): void {
    this.#places.delete(id);
  }

  /** Whether anything in the run is open. Looks at all that is. */
  isBusy(run: RunState): boolean {
    for (const [id, place] of this.#places) {
      if (place.kind !== "refused" && place.run === run && id !== run.id) return true;
    }
    return false;
  }

  #forgetOldest(): void {
    for (const id of this.#places.keys()) {
      this.#places.delete(id);
      this.forgotten += 1;
      return;
    }
  }
}
