import { setTimeout as sleep } from "node:timers/promises";
import { type Fence, fieldsOf } from "../core/door.ts";
import type { SdkQuery } from "./sdk.ts";
import type { Session } from "./session.ts";

/** How long a leaving reader waits for the end of the stream, in ms. */
const MOST_WAIT_MS = 5_000;

/** An unread step of the stream. */
type Step = { readonly value: unknown } | { readonly thrown: unknown } | { readonly done: true };

/**
 * Reads the SDK's stream as fast as possible, because hooks do not wait for the reader. The reader gets the same
 * messages and errors as without this class. The SDK would also buffer them.
 */
export class FollowedQuery {
  readonly #inner: SdkQuery;
  readonly #session: Session;
  readonly #fence: Fence;
  readonly #steps: Step[] = [];
  readonly #readers: ((step: Step) => void)[] = [];
  #isOver = false;
  #wasClosed = false;

  constructor(inner: SdkQuery, session: Session, fence: Fence) {
    this.#inner = inner;
    this.#session = session;
    this.#fence = fence;
    void this.#pump();
  }

  async next(): Promise<IteratorResult<unknown, void>> {
    const step = this.#steps.shift() ?? (await this.#coming());
    if ("thrown" in step) throw step.thrown;
    return "done" in step ? { done: true, value: undefined } : { done: false, value: step.value };
  }

  async return(): Promise<IteratorResult<unknown, void>> {
    this.close();
    await Promise.race([this.#inner.return(), late()]);
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<unknown, void>> {
    this.close();
    return await this.#inner.throw(error);
  }

  /** The reader or `close()` ends the stream. */
  close(): void {
    this.#wasClosed = true;
    this.#steps.length = 0;
    this.#end(undefined);
  }

  async #pump(): Promise<void> {
    try {
      while (true) {
        const step = await this.#inner.next();
        if (step.done === true) break;
        this.#fence.contain(() => this.#session.message(fieldsOf(step.value) ?? {}));
        this.#give({ value: step.value });
      }
      this.#end(undefined);
    } catch (thrown) {
      this.#end(thrown);
      this.#give({ thrown });
    }
    this.#isOver = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true });
  }

  #end(thrown: unknown): void {
    this.#fence.contain(() => this.#session.ended(thrown, this.#wasClosed));
  }

  #give(step: Step): void {
    const reader = this.#readers.shift();
    if (reader !== undefined) reader(step);
    else if (!this.#wasClosed) this.#steps.push(step);
  }

  #coming(): Promise<Step> {
    if (this.#isOver || this.#wasClosed) return Promise.resolve({ done: true });
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}

/** A stream that is not the SDK's own may wait for its next message before it ends. */
async function late(): Promise<void> {
  await sleep(MOST_WAIT_MS, undefined, { ref: false });
}
