import {
  type AgentEventSink,
  describe,
  having,
  isPromise,
  RecentMap,
  tenantKey,
} from "../../events/door.ts";
import { type RunSubject, type SubjectFields, subjectFields } from "../runtime/door.ts";
import { contained } from "./fence.ts";
import { type Fields, fieldsOf, textOf } from "./narrow.ts";

/** A paused run as plain JSON: what the run that resumes it takes over. */
export interface PausedRun {
  readonly runId: string;
  readonly tenantId: string;
  /** When it paused, in ms since 1970. */
  readonly at: number;
  readonly threadId?: string | undefined;
  /** Personal data, if a hook gave it. */
  readonly subject?: RunSubject | undefined;
  /** Further data of the adapter. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Stores paused runs, so that another process can resume them. A `Map` works inside one process. The functions of a
 * database may return promises. A lookup that fails, or takes more than 5 s, finds nothing. Errors go to `onError`.
 */
export interface PausedRuns {
  get(key: string): PausedRun | null | undefined | Promise<PausedRun | null | undefined>;
  set(key: string, run: PausedRun): unknown;
  /** Called when a run was resumed. Without it, let entries expire. */
  delete?(key: string): unknown;
}

/** @throws TypeError unless it is a store, or absent. */
export function checkPausedRuns(store: unknown, field: string): void {
  having("get")(store, field);
  having("set")(store, field);
}

/** A paused run inside an adapter. */
export interface KnownPause extends Omit<PausedRun, "subject" | "details"> {
  readonly subject?: SubjectFields | undefined;
  readonly details?: Fields | undefined;
}

/** Maximum number of tenants with a paused run of one key. */
const MOST_TENANTS = 100;
const DEFAULT_LEAST = 10_000;
const LOOKUP_MS = 5_000;
/** Instead of the tenant, if several have a paused run of a key. */
const NO_TENANT = "";

/** Paused runs in memory. Tenants may use the same key, because an application may choose IDs of runs and threads. */
class PauseMemory {
  readonly #runs: RecentMap<readonly KnownPause[]>;

  constructor(least: number) {
    this.#runs = new RecentMap(least);
  }

  /** @param tenantId without it, a run is found if only one tenant has one. */
  get(key: string, tenantId: string | undefined): KnownPause | undefined {
    if (this.#runs.isEmpty) return undefined;
    const known = this.#runs.get(key);
    if (tenantId !== undefined) return known?.find((run) => run.tenantId === tenantId);
    return known?.length === 1 ? known[0] : undefined;
  }

  hasOther(key: string, tenantId: string | undefined): boolean {
    return this.#others(key, tenantId).length > 0;
  }

  set(key: string, run: KnownPause): number {
    const others = this.#others(key, run.tenantId);
    return this.#runs.set(key, [...others, run].slice(-MOST_TENANTS));
  }

  delete(key: string, { tenantId }: KnownPause): void {
    const others = this.#others(key, tenantId);
    if (others.length === 0) this.#runs.delete(key);
    else this.#runs.set(key, others);
  }

  #others(key: string, tenantId: string | undefined): readonly KnownPause[] {
    return this.#runs.get(key)?.filter((run) => run.tenantId !== tenantId) ?? [];
  }
}

/** The memory of each sink and framework, because many applications create an adapter for each request. */
const memories = new WeakMap<AgentEventSink, Map<string, PauseMemory>>();

function memoryOf(sink: AgentEventSink, framework: string, least: number): PauseMemory {
  const known = memories.get(sink) ?? new Map<string, PauseMemory>();
  memories.set(sink, known);
  const memory = known.get(framework) ?? new PauseMemory(least);
  known.set(framework, memory);
  return memory;
}

export interface PauseOptions {
  readonly sink: AgentEventSink;
  readonly framework: string;
  /** The user's store. Default: the memory of the sink. */
  readonly store: PausedRuns | undefined;
  /** Minimum number of keys in memory. The first adapter of a sink sets it. */
  readonly least?: number | undefined;
  /** Whether a key may be that of several tenants. */
  readonly sharesKeys: boolean;
  readonly onError: (error: unknown) => void;
}

interface Answer {
  readonly given: unknown;
}

/** The paused runs of one framework, in memory or in the user's store. Its methods never throw. */
export class Pauses {
  readonly #memory: PauseMemory;
  readonly #store: PausedRuns | undefined;
  readonly #sharesKeys: boolean;
  /** Writes without an answer. */
  readonly #writes = new Set<Promise<void>>();
  readonly #onError: (error: unknown) => void;

  constructor({
    framework,
    least = DEFAULT_LEAST,
    onError,
    sharesKeys,
    sink,
    store,
  }: PauseOptions) {
    this.#memory = memoryOf(sink, framework, least);
    this.#store = store;
    this.#sharesKeys = sharesKeys;
    this.#onError = onError;
  }

  /**
   * Finds the paused run of a key.
   *
   * @param tenantId of the run that resumes. A run of another tenant is never found. `undefined`: not known. The run
   *   is found then if only one tenant has one.
   */
  find(
    key: string,
    tenantId: string | undefined,
  ): KnownPause | undefined | Promise<KnownPause | undefined> {
    const store = this.#store;
    if (store === undefined) return this.#memory.get(key, tenantId);
    return whenKnown(
      this.#read(() => store.get(this.#nameOf(key, tenantId))),
      (answer) => contained(() => pauseIn(answer?.given, tenantId), this.#onError),
    );
  }

  /** The paused run of a key in memory. `undefined` if the user has a store. */
  inMemory(key: string, tenantId: string | undefined): KnownPause | undefined {
    return this.#store === undefined ? this.#memory.get(key, tenantId) : undefined;
  }

  /** Whether a run of another tenant is paused under the key. A store that fails may have one. */
  hasOther(key: string, tenantId: string | undefined): boolean | Promise<boolean> {
    const store = this.#store;
    if (store === undefined) return this.#memory.hasOther(key, tenantId);
    return whenKnown(
      this.#read(() => store.get(key)),
      (answer) => {
        if (answer === undefined) return true;
        const owner = fieldsOf(answer.given)?.tenantId;
        return owner !== undefined && owner !== tenantId;
      },
    );
  }

  /** @returns how many keys the memory forgot for this one, mostly 0. */
  add(key: string, run: KnownPause): number {
    const store = this.#store;
    if (store === undefined) return this.#memory.set(key, run);
    const record = recordOf(run);
    this.#write(() => store.set(this.#nameOf(key, run.tenantId), record));
    if (this.#sharesKeys) this.#write(() => this.#addForAnyone(store, key, record));
    return 0;
  }

  /** The run was resumed. */
  delete(key: string, run: KnownPause): void {
    const store = this.#store;
    if (store === undefined) {
      this.#memory.delete(key, run);
      return;
    }
    this.#write(() => store.delete?.(this.#nameOf(key, run.tenantId)));
    if (this.#sharesKeys) this.#write(() => store.delete?.(key));
  }

  /**
   * Stores the run also under the key alone, for a resumption without a known tenant. If two tenants have paused runs
   * of that key, such a resumption finds neither.
   */
  async #addForAnyone(store: PausedRuns, key: string, record: PausedRun): Promise<void> {
    const owner = fieldsOf(await store.get(key))?.tenantId ?? record.tenantId;
    await store.set(key, { ...record, tenantId: owner === record.tenantId ? owner : NO_TENANT });
  }

  #nameOf(key: string, tenantId: string | undefined): string {
    return this.#sharesKeys && tenantId !== undefined ? tenantKey(tenantId, key) : key;
  }

  /** @returns the answer of the store. `undefined`: it failed. */
  #read(work: () => unknown): Answer | undefined | Promise<Answer | undefined> {
    return contained(() => {
      const given = this.#inTurn(work);
      if (!isPromise(given)) return { given };
      return inTime(given).then(
        (answer) => ({ given: answer }),
        (error: unknown) => {
          this.#onError(error);
          return undefined;
        },
      );
    }, this.#onError);
  }

  /** After the writes before it, because a database may change their order. */
  #inTurn(work: () => unknown): unknown {
    return this.#writes.size === 0 ? work() : this.settled().then(work);
  }

  /** Resolves when the store has answered to all writes. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  #write(work: () => unknown): void {
    contained(() => {
      const given = this.#inTurn(work);
      if (!isPromise(given)) return;
      const written: Promise<void> = inTime(given)
        .then(undefined, this.#onError)
        .then(() => void this.#writes.delete(written));
      this.#writes.add(written);
    }, this.#onError);
  }
}

/** How long a paused run has waited until now, in ms. `undefined`: not known. */
export function waitedMs(paused: KnownPause | undefined): number | undefined {
  return paused === undefined ? undefined : Math.max(0, Date.now() - paused.at);
}

/** Calls `then` with the answer of a store: at once, unless the store gives a promise. */
export function whenKnown<A, T>(answer: A | Promise<A>, then: (answer: A) => T | Promise<T>) {
  return answer instanceof Promise ? answer.then(then) : then(answer);
}

function inTime(given: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`pausedRuns: no answer within ${LOOKUP_MS} ms`));
    const timer = setTimeout(late, LOOKUP_MS);
    const done = () => clearTimeout(timer);
    given.then(resolve, reject);
    given.then(done, done);
  });
}

function recordOf({ details, subject, ...run }: KnownPause): PausedRun {
  const { tags, metadata, user_id: user } = subject?.details ?? {};
  const named: RunSubject = { user, session: subject?.session_id, tags, metadata };
  return { ...run, ...(subject === undefined ? {} : { subject: named }), details };
}

/**
 * Reads the answer of a store.
 *
 * @throws TypeError unless it is a paused run of the tenant, or nothing.
 */
function pauseIn(given: unknown, tenantId: string | undefined): KnownPause | undefined {
  if (given === undefined || given === null) return undefined;
  const fields = fieldsOf(given);
  if (fields?.tenantId === NO_TENANT) return undefined;
  const runId = textOf(fields?.runId);
  const owner = textOf(fields?.tenantId);
  const at = fields?.at;
  if (fields === undefined || runId === undefined || owner === undefined || !isTime(at)) {
    throw new TypeError(`pausedRuns: expected a paused run or nothing, got ${describe(given)}`);
  }
  if (tenantId !== undefined && owner !== tenantId) {
    throw new TypeError("pausedRuns: expected a run of the same tenant, got one of another tenant");
  }
  const { details, subject, threadId } = fields;
  return {
    runId,
    tenantId: owner,
    at,
    threadId: textOf(threadId),
    subject: subjectIn(subject),
    details: fieldsOf(details),
  };
}

/** JSON has no `undefined`: a database may give `null` for it. */
function subjectIn(given: unknown): SubjectFields | undefined {
  const fields = fieldsOf(given);
  if (fields === undefined) return undefined;
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  return subjectFields(Object.fromEntries(known));
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
