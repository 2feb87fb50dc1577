import {
  type AgentEventSink,
  errorsIn,
  property,
  type RenderedForLlm,
  resultText,
  textOfResult,
} from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import { isTimeout } from "./langchain-errors.ts";
import type { RunState } from "./run-state.ts";

/** Maximum number of held failures, over all runs. */
const MOST_HELD = 10_000;
/** Maximum number of results of one node that are searched. */
const MOST_RESULTS = 1000;

/**
 * The text that the model received for a failed call. `own`: no model received one, so the event has our own text.
 * `unknown`: not known. `cut`: the run's deadline passed, so the tool did not fail.
 */
export type ModelText = RenderedForLlm | "own" | "unknown" | "cut";

export interface FailedCall {
  readonly toolUseId: string;
  /** The chain around the call. */
  readonly chainId: string;
  readonly thrown: unknown;
}

/** A failed tool call whose event waits for the model's text. */
interface Held {
  readonly toolUseId: string;
  readonly thrown: unknown;
  /** The chain whose end may have the text. Moves to the outer chain when that chain ends. */
  chainId: string;
  /** No model receives a text. The end of the run shows whether the run's deadline caused the failure. */
  awaitsRunEnd: boolean;
  /** Sends the event with the time of the failure. */
  readonly send: (text: ModelText) => void;
}

/**
 * Holds failed tool calls until the model's text is known. The result of the calling node has it in a `ToolMessage`.
 */
export class HeldFailures {
  /**
   * One instance for each sink, because LangChain may report a call to one handler and the node around it to another.
   */
  static of(sink: AgentEventSink): HeldFailures {
    const known = bySink.get(sink) ?? new HeldFailures();
    bySink.set(sink, known);
    return known;
  }

  readonly #runs = new Map<RunState, Held[]>();
  #count = 0;

  hold(run: RunState, call: FailedCall, send: Held["send"]): void {
    const held = this.#runs.get(run);
    const one = { ...call, awaitsRunEnd: false, send };
    if (held === undefined) this.#runs.set(run, [one]);
    else held.push(one);
    this.#count += 1;
    if (this.#count > MOST_HELD) this.#sendOldest();
  }

  /** A chain of the run, or the run itself, ended. */
  chainEnded(run: RunState, id: string, parentId: string | undefined, outputs: unknown): void {
    this.#settle(run, (held) => {
      if (held.awaitsRunEnd) return undefined;
      const text = messageTo(held, outputs);
      if (text !== undefined) return text;
      if (held.chainId !== id) return undefined;
      return this.#moveOut(held, run, parentId) ? undefined : "unknown";
    });
  }

  /** A chain failed. The model does not receive the errors in it. */
  chainFailed(run: RunState, id: string, parentId: string | undefined): void {
    this.#settle(run, (held) => {
      if (held.chainId !== id || held.awaitsRunEnd) return undefined;
      if (this.#moveOut(held, run, parentId)) return undefined;
      held.awaitsRunEnd = run.graph && !run.ended && isTimeout(held.thrown);
      return held.awaitsRunEnd ? undefined : "own";
    });
  }

  /** The call is repeated, so the model did not receive the failure. */
  callRepeated(run: RunState, toolUseId: string): void {
    this.#settle(run, (held) => (held.toolUseId === toolUseId ? "own" : undefined));
  }

  /**
   * The run ended.
   *
   * @param timeUp the abort reason of the run's deadline, if it ended the run.
   */
  runEnded(run: RunState, text: "own" | "unknown", timeUp?: unknown): void {
    this.#settle(run, (held) => {
      if (isIn(timeUp, held.thrown)) return "cut";
      return held.awaitsRunEnd ? "own" : text;
    });
  }

  /** Sends all held events now, because the process may end. */
  flush(): void {
    for (const run of [...this.#runs.keys()]) this.runEnded(run, "unknown");
  }

  /** @returns whether there is an outer chain whose end may have the text. */
  #moveOut(held: Held, run: RunState, parentId: string | undefined): boolean {
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

/** Whether a thrown value is that error, or contains it. */
function isIn(error: unknown, thrown: unknown): boolean {
  return typeof error === "object" && error !== null && errorsIn(thrown).has(error);
}

const bySink = new WeakMap<AgentEventSink, HeldFailures>();

/** The text of the message for the model about the call, in the result of a node. */
function messageTo(
  { toolUseId, thrown }: FailedCall,
  outputs: unknown,
): RenderedForLlm | undefined {
  const found = messagesIn(outputs).flatMap((each): readonly Fields[] => {
    const message = fieldsOf(each);
    return message?.tool_call_id === toolUseId ? [message] : [];
  });
  // Newest first: a state may have an older message for a call with the same ID.
  const failed = found.filter(({ status }) => status === "error");
  const error = textOf(property(thrown, "message")) ?? "";
  const own = failed.findLast((message) => textOfResult(message).includes(error));
  const message = own ?? failed.at(-1) ?? found.at(-1);
  return message === undefined ? undefined : resultText(textOfResult(message));
}

/** The messages in a node's result: its state, a list, a single message, or the update of a `Command`. */
export function messagesIn(outputs: unknown): readonly unknown[] {
  const list = listOf(outputs) ?? listOf(fieldsOf(outputs)?.output) ?? [outputs];
  return list.slice(0, MOST_RESULTS).flatMap((one) => {
    const fields = fieldsOf(one);
    const inside = listOf(fields?.messages) ?? listOf(fieldsOf(fields?.update)?.messages);
    return inside === undefined ? [one] : inside.slice(-MOST_RESULTS);
  });
}
