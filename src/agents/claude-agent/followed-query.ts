import { setTimeout as sleep } from "node:timers/promises";
import { fieldsOf } from "../core/narrow.ts";
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
  readonly #contain: (work: () => void) => void;
  readonly #steps: Step[] = [];
  readonly #readers: ((step: Step) => void)[] = [];
  #isOver = false;
  #wasLeft = false;

  constructor(inner: SdkQuery, session: Session, contain: (work: () => void) => void) {
    this.#inner = inner;
    this.#session = session;
    this.#contain = contain;
    void this.#pump();
  }

  async next(): Promise<IteratorResult<unknown, void>> {
    const step = this.#steps.shift() ?? (await this.#coming());
    if ("thrown" in step) throw step.thrown;
    return "done" in step ? { done: true, value: undefined } : { done: false, value: step.value };
  }

  async return(): Promise<IteratorResult<unknown, void>> {
    this.left();
    await Promise.race([this.#inner.return(), late()]);
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<unknown, void>> {
    this.left();
    return await this.#inner.throw(error);
  }

  /** The reader or `close()` ends the stream. */
  left(): void {
    this.#wasLeft = true;
    this.#steps.length = 0;
    this.#tell(undefined);
  }

  async #pump(): Promise<void> {
    try {
      while (true) {
        const step = await this.#inner.next();
        if (step.done === true) break;
        this.#contain(() => this.#session.message(fieldsOf(step.value) ?? {}));
        this.#give({ value: step.value });
      }
      this.#tell(undefined);
    } catch (thrown) {
      this.#tell(thrown);
      this.#give({ thrown });
    }
    this.#isOver = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true });
  }

  #tell(thrown: unknown): void {
    this.#contain(() => this.#session.ended(thrown, this.#wasLeft));
  }

  #give(step: Step): void {
    const reader = this.#readers.shift();
    if (reader !== undefined) reader(step);
    else if (!this.#wasLeft) this.#steps.push(step);
  }

  #coming(): Promise<Step> {
    if (this.#isOver || this.#wasLeft) return Promise.resolve({ done: true });
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}

/** A stream that is not the SDK's own may wait for its next message before it ends. */
async function late(): Promise<void> {
  await sleep(MOST_WAIT_MS, undefined, { ref: false });
}
