import type { Call } from "./call.ts";

/** Beyond this many open calls a scan costs more than an index. */
const SCAN_MOST = 16;

/**
 * The open calls of one run, oldest first.
 *
 * An end matches the oldest open start of its id; where the id is empty, of its tool.
 */
export class OpenCalls<H> {
  oldest: Call<H> | undefined = undefined;
  newest: Call<H> | undefined = undefined;
  size = 0;
  /** Oldest first under their key; made when a scan gets long, kept until all are closed. */
  #index: Map<string, Call<H>[]> | undefined = undefined;

  add(call: Call<H>): void {
    call.previous = this.newest;
    if (this.newest === undefined) this.oldest = call;
    else this.newest.next = call;
    this.newest = call;
    this.size++;
    if (this.#index !== undefined) this.#enter(this.#index, call);
    else if (this.size > SCAN_MOST) this.#index = this.#build();
  }

  remove(call: Call<H>): void {
    if (call.previous === undefined) this.oldest = call.next;
    else call.previous.next = call.next;
    if (call.next === undefined) this.newest = call.previous;
    else call.next.previous = call.previous;
    call.previous = undefined;
    call.next = undefined;
    this.size--;
    if (this.#index === undefined) return;
    if (this.size === 0) {
      this.#index = undefined;
      return;
    }
    const key = keyOf(call.id, call.name);
    const same = this.#index.get(key);
    if (same === undefined) return;
    const at = same.indexOf(call);
    if (at >= 0) same.splice(at, 1);
    if (same.length === 0) this.#index.delete(key);
  }

  /** The oldest open call that an end of this id (of this tool, where the id is empty) matches. */
  oldestOf(id: string, name: string): Call<H> | undefined {
    if (this.#index !== undefined) return this.#index.get(keyOf(id, name))?.[0];
    for (let call = this.oldest; call !== undefined; call = call.next) {
      if (call.id === id && (id !== "" || call.name === name)) return call;
    }
    return undefined;
  }

  /** The newest open call of an id, whatever its tool. */
  newestOf(id: string): Call<H> | undefined {
    if (this.#index !== undefined && id !== "") return this.#index.get(keyOf(id, ""))?.at(-1);
    for (let call = this.newest; call !== undefined; call = call.previous) {
      if (call.id === id) return call;
    }
    return undefined;
  }

  /** Whether a start equal in id, tool and version is open. */
  has(id: string, name: string, version: string | undefined): boolean {
    const indexed = this.#index?.get(keyOf(id, name));
    if (this.#index !== undefined) {
      return indexed?.some((call) => call.name === name && call.version === version) ?? false;
    }
    for (let call = this.oldest; call !== undefined; call = call.next) {
      if (call.id === id && call.name === name && call.version === version) return true;
    }
    return false;
  }

  #build(): Map<string, Call<H>[]> {
    const index = new Map<string, Call<H>[]>();
    for (let call = this.oldest; call !== undefined; call = call.next) this.#enter(index, call);
    return index;
  }

  #enter(index: Map<string, Call<H>[]>, call: Call<H>): void {
    const key = keyOf(call.id, call.name);
    const same = index.get(key);
    if (same === undefined) index.set(key, [call]);
    else same.push(call);
  }
}

/** Two kinds of key, which can't meet whatever the ids are. */
function keyOf(id: string, name: string): string {
  return id === "" ? `name ${name}` : `id ${id}`;
}
