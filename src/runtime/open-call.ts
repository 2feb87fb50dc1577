import type { AgentError } from "../errors/agent-error.ts";
import { LazySignal } from "./lazy-signal.ts";

/** Tells the sink that a call was cut off. */
export type TellCut = (error: AgentError, durationMs: number) => void;

/**
 * A tool or model call that somebody waits for, from when it was asked for until its caller has the
 * answer. The run may cut it off at any moment: then its caller is told at once, though what it called
 * may go on for ever, and nothing that this does later is sent.
 */
export class OpenCall {
  readonly #signal = new LazySignal();
  readonly #reject: (error: unknown) => void;
  #state: "asked" | "open" | "ended" = "asked";
  #begunAt = 0;
  #tellCut: TellCut | undefined;
  #cutBy: AgentError | undefined;

  /** @param reject of the promise that the caller waits for. */
  constructor(reject: (error: unknown) => void) {
    this.#reject = reject;
  }

  /** Fires when the run cuts the call off. */
  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  /** It waits for a decision, and no event of it is a start. */
  get isAsked(): boolean {
    return this.#state === "asked";
  }

  get isCut(): boolean {
    return this.#cutBy !== undefined;
  }

  /** @throws what its caller was told when it was cut off. */
  assertNotCut(): void {
    if (this.#cutBy !== undefined) throw this.#cutBy;
  }

  /** Its start is sent now: from here on, a cut is told. */
  begin(tellCut: TellCut): void {
    this.#state = "open";
    this.#tellCut = tellCut;
    this.#begunAt = performance.now();
  }

  /** What it called begins now; the time before was the sink's. */
  restart(): void {
    this.#begunAt = performance.now();
  }

  /** Whole milliseconds since it began. */
  elapsedMs(): number {
    return Math.trunc(performance.now() - this.#begunAt);
  }

  /** It ended by itself; whoever calls this tells how. Not when it {@link isCut}. */
  end(): number {
    this.#state = "ended";
    return this.elapsedMs();
  }

  /** Answers the caller, whatever happens later. */
  reject(error: unknown): void {
    this.#reject(error);
  }

  /** The run ends, or pauses, first. */
  cut(error: AgentError): void {
    if (this.isCut) return;
    this.#cutBy = error;
    const open = this.#state === "open";
    this.#state = "ended";
    // What runs inside it and listens ends before it does.
    this.#signal.abort(error);
    if (open) this.#tellCut?.(error, this.elapsedMs());
    this.#reject(error);
  }
}
