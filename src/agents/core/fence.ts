import { callErrorHook, type InnerSink } from "../../events/door.ts";
import { SafeSink } from "./safe-sink.ts";

/**
 * The fence between an adapter and its framework. Errors of the adapter, of the sink and of the application's functions
 * never reach the framework.
 */
export class Fence {
  readonly sink: SafeSink;
  /** Callbacks that failed in this package. */
  faults = 0;
  readonly #inner: InnerSink;
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor(sink: InnerSink, onError: ((error: unknown) => void) | undefined) {
    this.#inner = sink;
    this.#onError = onError;
    this.sink = new SafeSink({ sink, onError });
  }

  /** Calls code of the adapter. @returns `undefined` for one that fails. */
  contain<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.fault(error);
      return undefined;
    }
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

  /** Passes an error to the application. */
  readonly report = (error: unknown): void => callErrorHook(this.#onError, error);

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
