import type { KnownScope } from "./scope.ts";

/** Maximum number of ended scopes that are remembered. */
const MOST = 1000;

/**
 * Scopes that ended last, by LangChain's ID. Their code may go on: it was not awaited, or did not see that it was
 * stopped. A model call has no code.
 */
export class EndedScopes {
  // Every call is added, and hardly one is looked up. A map is slower here.
  readonly #ids: string[] = [];
  readonly #scopes: KnownScope[] = [];
  #next = 0;

  /** The scope that ended last, because the caller may use an ID of its own again. */
  get(id: string): KnownScope | undefined {
    const latest = this.#ids.lastIndexOf(id, this.#next - 1);
    return this.#scopes[latest < 0 ? this.#ids.lastIndexOf(id) : latest];
  }

  add(id: string, scope: KnownScope): void {
    if (scope.kind === "model") return;
    this.#ids[this.#next] = id;
    this.#scopes[this.#next] = scope;
    this.#next = (this.#next + 1) % MOST;
  }
}
