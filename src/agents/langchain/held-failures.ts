import {
  type AgentEventSink,
  errorsIn,
  type RenderedForLlm,
  resultText,
  textOfResult,
} from "../../events/door.ts";
import { fieldsOf, listOf } from "../core/narrow.ts";
import { isTimeout } from "./langchain-errors.ts";
import type { RunState } from "./run-state.ts";

/** Most failures that are held at once, of all runs. */
const MOST_HELD = 10_000;
/** Most results of one node that are looked at. */
const MOST_RESULTS = 1000;

/**
 * What is known of the text that the model received of a failed call: `own`: no model received any, and
 * the event has our own text; `unknown`: nobody knows; `cut`: the time of the run was over, and the tool
 * did not fail.
 */
export type ModelText = RenderedForLlm | "own" | "unknown" | "cut";

/** A tool call that failed. */
export interface FailedCall {
  readonly toolUseId: string;
  /** What the call stands in. */
  readonly chainId: string;
  readonly thrown: unknown;
}

/** A failed tool call whose event waits for what the model is told of it. */
interface Held {
  readonly toolUseId: string;
  readonly thrown: unknown;
  /** The chain whose end may tell; moves outwards. */
  chainId: string;
  /** No model is told of it, and only the run's end says whose time was over. */
  isLeftToRun: boolean;
  /** Sends the event, with the time of the failure. */
  readonly send: (text: ModelText) => void;
}

/**
 * Failed tool calls until it is known what the model is told of them: the result of the node that made
 * the call has the `ToolMessage`.
 */
export class HeldFailures {
  /** One a sink: LangChain may report a call to one handler, and the node around it to another. */
  static of(sink: AgentEventSink): HeldFailures {
    const known = bySink.get(sink) ?? new HeldFailures();
    bySink.set(sink, known);
    return known;
  }

  readonly #runs = new Map<RunState, Held[]>();
  #count = 0;

  hold(run: RunState, call: FailedCall, send: Held["send"]): void {
    const held = this.#runs.get(run);
    const one = { ...call, isLeftToRun: false, send };
    if (held === undefined) this.#runs.set(run, [one]);
    else held.push(one);
    this.#count += 1;
    if (this.#count > MOST_HELD) this.#sendOldest();
  }

  /** A chain of the run has ended, or the run itself. */
  chainEnded(run: RunState, id: string, parentId: string | undefined, outputs: unknown): void {
    this.#settle(run, (held) => {
      if (held.isLeftToRun) return undefined;
      const text = messageTo(held.toolUseId, outputs);
      if (text !== undefined) return text;
      if (held.chainId !== id) return undefined;
      return this.#outwards(held, run, parentId) ? undefined : "unknown";
    });
  }

  /** What a chain threw, no model is told. */
  chainFailed(run: RunState, id: string, parentId: string | undefined): void {
    this.#settle(run, (held) => {
      if (held.chainId !== id || held.isLeftToRun) return undefined;
      if (this.#outwards(held, run, parentId)) return undefined;
      held.isLeftToRun = run.graph && !run.ended && isTimeout(held.thrown);
      return held.isLeftToRun ? undefined : "own";
    });
  }

  /** The call is made again: of its failure, no model is told. */
  madeAgain(run: RunState, toolUseId: string): void {
    this.#settle(run, (held) => (held.toolUseId === toolUseId ? "own" : undefined));
  }

  /**
   * The run is over.
   *
   * @param timeUp what the signal of the run's time limit gave as its reason, if that ended it.
   */
  runEnded(run: RunState, text: "own" | "unknown", timeUp?: unknown): void {
    this.#settle(run, (held) => {
      if (isIn(timeUp, held.thrown)) return "cut";
      return held.isLeftToRun ? "own" : text;
    });
  }

  /** Sends all now: nobody may be there to do so later. */
  flush(): void {
    for (const run of [...this.#runs.keys()]) this.runEnded(run, "unknown");
  }

  /** @returns whether a chain is around this one, whose end may still tell. */
  #outwards(held: Held, run: RunState, parentId: string | undefined): boolean {
    if (parentId === undefined || parentId === run.id) return false;
    held.chainId = parentId;
    return true;
  }

  #settle(run: RunState, textFor: (held: Held) => ModelText | undefined): void {
    if (this.#count === 0) return;
    const all = this.#runs.get(run);
    if (all === undefined) return;
    const left: Held[] = [];
    this.#runs.delete(run);
    this.#count -= all.length;
    for (const held of all) {
      const text = textFor(held);
      if (text === undefined) left.push(held);
      else held.send(text);
    }
    if (left.length === 0) return;
    this.#runs.set(run, left);
    this.#count += left.length;
  }

  #sendOldest(): void {
    for (const run of this.#runs.keys()) {
      this.runEnded(run, "unknown");
      return;
    }
  }
}

/** Whether a thrown value is that error, or has it inside. */
function isIn(error: unknown, thrown: unknown): boolean {
  return typeof error === "object" && error !== null && errorsIn(thrown).has(error);
}

const bySink = new WeakMap<AgentEventSink, HeldFailures>();

/** The text of the message to the model about the call, among what a node gave. */
function messageTo(toolUseId: string, outputs: unknown): RenderedForLlm | undefined {
  // From the newest: a state may have an older message about a call of that id.
  const found = messagesIn(outputs).findLast(
    (message) => fieldsOf(message)?.tool_call_id === toolUseId,
  );
  return found === undefined ? undefined : resultText(textOfResult(found));
}

/** The messages of a node: in its state, as a list, alone, or in the update of a `Command`. */
function messagesIn(outputs: unknown): readonly unknown[] {
  const list = listOf(outputs) ?? listOf(fieldsOf(outputs)?.output) ?? [outputs];
  return list.slice(0, MOST_RESULTS).flatMap((one) => {
    const fields = fieldsOf(one);
    const inside = listOf(fields?.messages) ?? listOf(fieldsOf(fields?.update)?.messages);
    return inside === undefined ? [one] : inside.slice(-MOST_RESULTS);
  });
}
