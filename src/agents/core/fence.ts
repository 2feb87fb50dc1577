import type { InnerSink } from "../../events/door.ts";
import { reportTo } from "./report-to.ts";
import { SafeSink } from "./safe-sink.ts";

/** Counts of every adapter. All start at 0. */
export interface AdapterCounts {
  /** Events that the sink refused. */
  readonly sinkFailures: number;
  /** Callbacks that failed in this package: each is a bug. Errors of your functions only go to `onError`. */
  readonly faults: number;
}

/** Calls `work`. @returns `undefined` if it fails. `failed` gets the error. */
export function contained<T>(work: () => T, failed: (error: unknown) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/** Keeps errors of an adapter and of the application's functions away from the framework. */
export class Containment {
  /** Callbacks that failed in this package. */
  faults = 0;
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor(onError: ((error: unknown) => void) | undefined) {
    this.#onError = onError;
  }

  /** Number of calls of the adapter's code that have not returned. */
  #running = 0;

  /** Whether the adapter's code is running. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Calls code of the adapter. @returns `undefined` for one that fails. */
  contain<T>(work: () => T): T | undefined {
    this.#running += 1;
    const result = contained(work, this.fault);
    this.#running -= 1;
    return result;
  }

  /** Calls code of the adapter that may go on. The promise never rejects. */
  follow(work: () => void | Promise<void>): void | Promise<void> {
    return this.contain(work)?.catch(this.fault);
  }

  /** Counts and reports an error of the adapter. */
  readonly fault = (error: unknown): void => {
    this.faults += 1;
    this.report(error);
  };

  /** Passes an error to the application. Without `onError`, each is said once on standard error. */
  readonly report = (error: unknown): void => reportTo(this.#onError, error);
}

/** The fence between an adapter with one sink and its framework: errors of the sink do not pass either. */
export class Fence extends Containment {
  readonly sink: SafeSink;
  readonly #inner: InnerSink;

  constructor(sink: InnerSink, onError: ((error: unknown) => void) | undefined) {
    super(onError);
    this.#inner = sink;
    this.sink = new SafeSink({ sink, onError: this.report });
  }

  get counts(): AdapterCounts {
    return { sinkFailures: this.sink.failures, faults: this.faults };
  }

  /** Resolves when the sink has accepted or refused all events and was flushed. Never rejects. */
  async flush(): Promise<void> {
    await this.sink.settled();
    try {
      await this.#inner.forceFlush?.();
    } catch (error) {
      this.report(error);
    }
  }
}
