import { textOfResult, textProperty, whyNotMade } from "../../events/door.ts";
import { fieldsOf, listOf, startedNow, textOf } from "../core/door.ts";
import { messagesIn } from "./held-failures.ts";
import { toolInput } from "./invocation.ts";
import { type AskedCall, callsIn } from "./review.ts";
import type { RunState } from "./run-state.ts";

/** A run that remembers more calls forgets all of them at the next answer. */
const MOST_ASKED = 1000;

interface AnsweredCall extends AskedCall {
  /** Whether a tool callback, or a decision, has reported it. */
  isKnown: boolean;
}

/**
 * The calls of the model's answers in a run. LangChain calls no handler if a tool does not exist or its input does
 * not fit. The node's result then has a message for the model.
 */
export class AskedCalls {
  readonly #calls = new Map<string, AnsweredCall>();
  /** How many are not known. */
  #open = 0;

  /** Those of the last answer. */
  last: readonly AskedCall[] = [];

  /** @param calls of an answer. */
  add(calls: readonly unknown[]): void {
    if (calls.length === 0) return;
    if (this.#calls.size > MOST_ASKED) {
      this.#calls.clear();
      this.#open = 0;
    }
    this.last = callsIn(calls);
    for (const { args, id, tool } of this.last) {
      if (this.#calls.get(id)?.isKnown !== false) this.#open += 1;
      this.#calls.set(id, { args, id, tool, isKnown: false });
    }
  }

  /** The tool that the model called with this ID. */
  toolOf(id: string): string | undefined {
    return this.#calls.get(id)?.tool;
  }

  /** The call was made or decided. */
  known(id: string): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.isKnown) return;
    call.isKnown = true;
    this.#open -= 1;
  }

  /** A tool was called, and its ID is not known: older versions do not report it. Its oldest call counts as made. */
  madeWithoutId(tool: string): void {
    for (const call of this.#calls.values()) {
      if (call.tool !== tool || call.isKnown) continue;
      this.known(call.id);
      return;
    }
  }

  /**
   * A node or the run ended. Reports its calls that were answered with an error and not made.
   *
   * @param chainId LangChain's ID of it.
   * @param stepId the node's step, if it has one.
   */
  answered(run: RunState, chainId: string, outputs: unknown, stepId?: string): void {
    if (this.#open === 0) return;
    for (const each of messagesIn(outputs)) {
      const message = fieldsOf(each);
      const call = this.#calls.get(textOf(message?.tool_call_id) ?? "");
      if (call === undefined || call.isKnown) continue;
      this.known(call.id);
      const text = textOfResult(message);
      if (message?.status === "error" || isOfOlderNode(text)) {
        notMade(run, chainId, call, text, stepId);
      }
    }
  }

  /** A node failed: the error may be about a call that was not made. */
  threw(run: RunState, chainId: string, thrown: unknown, stepId?: string): void {
    if (this.#open === 0) return;
    const text = textProperty(thrown, "message") ?? "";
    const pending = this.last.filter(({ id }) => this.#calls.get(id)?.isKnown === false);
    const missing = NO_TOOL.exec(text)?.[1];
    const isUnfit = missing === undefined && whyNotMade(text, true) === "tool_input_invalid";
    // The error does not name the call whose input does not fit.
    const about =
      isUnfit && pending.length === 1 ? pending : pending.filter(({ tool }) => tool === missing);
    for (const call of about) {
      this.known(call.id);
      notMade(run, chainId, call, text, stepId, null);
    }
  }
}

/** What LangGraph's tool node throws for a tool that it does not have. */
const NO_TOOL = /^Tool "(.{1,200})" not found/;

/** The tool node of older versions gives its error messages no status. */
function isOfOlderNode(text: string): boolean {
  return text.startsWith("Error: ") && text.endsWith("\n Please fix your mistakes.");
}

/** The model's calls whose input is not JSON. LangChain does not answer them. */
export function refuseUnreadable(run: RunState, modelCallId: string, calls: unknown): void {
  for (const call of listOf(calls) ?? []) {
    const fields = fieldsOf(call);
    const tool = textOf(fields?.name);
    if (tool === undefined) continue;
    const id = textOf(fields?.id) ?? run.writer.newId();
    notMade(run, modelCallId, { id, tool, args: fields?.args }, undefined);
  }
}

/**
 * @param text why. `undefined`: the input is not JSON, and no text is known.
 * @param shown what the model received. Default: that text.
 */
function notMade(
  run: RunState,
  within: string,
  call: AskedCall,
  text: string | undefined,
  stepId?: string,
  shown: string | null = text ?? null,
): void {
  const { args, id: toolUseId, tool } = call;
  const code =
    text === undefined ? "tool_input_invalid" : whyNotMade(text, isOffered(run.tools, tool));
  run.totals.toolCalls += 1;
  run.writer.toolNotMade(
    { toolUseId, tool, ...startedNow() },
    { input: toolInput(args), code, text: shown, stepId },
    { eventId: `${within}:call-start:${toolUseId}` },
    { eventId: `${within}:call-end:${toolUseId}` },
  );
}

/** Whether the last request offered the tool. `undefined`: not known. */
function isOffered(tools: unknown, tool: string): boolean | undefined {
  const names = (listOf(tools) ?? []).map((each) => {
    const fields = fieldsOf(each);
    return fieldsOf(fields?.function)?.name ?? fields?.name;
  });
  return names.length === 0 || names.includes(undefined) ? undefined : names.includes(tool);
}
