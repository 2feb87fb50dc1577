import { textOfResult, textProperty, whyNotMade } from "../../events/door.ts";
import { fieldsOf, listOf, startedNow, textOf } from "../core/door.ts";
import { messagesIn } from "./held-failures.ts";
import { toolInput } from "./invocation.ts";
import { type AskedCall, callsIn, isSame, openCallsIn } from "./review.ts";
import type { RunState } from "./run-state.ts";
import type { ModelScope } from "./scope.ts";

/** A run that remembers more calls forgets all of them at the next answer. */
const MOST_ASKED = 1000;

interface AnsweredCall extends AskedCall {
  /** Its position among the calls of the answer with its ID. */
  readonly nth: number;
  /** Whether a tool callback, or a decision, has reported it. */
  isKnown: boolean;
}

/**
 * The calls of the model's answers in a run. LangChain calls no handler if a tool does not exist or its input does
 * not fit. The node's result then has a message for the model.
 */
export class AskedCalls {
  /** By ID, which models do not always make unique. `""`: the model gave none. */
  readonly #calls = new Map<string, readonly AnsweredCall[]>();
  #last: readonly AnsweredCall[] = [];
  /** How many are not known. */
  #open = 0;

  /** Those of the last answer that have an ID. */
  get last(): readonly AskedCall[] {
    return this.#last.filter(({ id }) => id !== "");
  }

  /** @param calls of an answer. */
  add(calls: readonly unknown[]): void {
    if (calls.length === 0) return;
    if (this.#calls.size > MOST_ASKED) {
      this.#calls.clear();
      this.#open = 0;
    }
    const byId = new Map<string, AnsweredCall[]>();
    this.#last = callsIn(calls, "").map((asked) => {
      const same = byId.get(asked.id) ?? [];
      const call = { ...asked, nth: same.length, isKnown: false };
      same.push(call);
      byId.set(asked.id, same);
      return call;
    });
    for (const [id, same] of byId) {
      for (const older of this.#calls.get(id) ?? []) this.#know(older);
      this.#calls.set(id, same);
      this.#open += same.length;
    }
  }

  /** A node starts in a run that continues a paused one. Its state has calls of an answer before the pause. */
  continued(state: unknown): void {
    for (const asked of openCallsIn(state)) {
      const [first, ...others] = this.#calls.get(asked.id) ?? [];
      if (first?.isKnown === true || others.length > 0) continue;
      if (first === undefined) this.#open += 1;
      // A person may have edited it.
      this.#calls.set(asked.id, [{ ...asked, nth: 0, isKnown: false }]);
    }
  }

  /** The tool that the model called with this ID. `undefined`: it called several, or none. */
  toolOf(id: string): string | undefined {
    const [first, ...others] = this.#calls.get(id) ?? [];
    return others.every(({ tool }) => tool === first?.tool) ? first?.tool : undefined;
  }

  /**
   * The call was made or decided.
   *
   * @param input content, in the form of the callback. It tells calls with the same ID apart.
   */
  known(id: string, tool: string, input?: unknown): void {
    this.#know(this.#find(id, tool, hasInput(input)));
  }

  /** A tool was called, and its ID is not known: older versions do not report it. Its oldest call counts as made. */
  madeWithoutId(tool: string, input: unknown): void {
    const calls = [...this.#calls.values()].flat().filter((call) => call.tool === tool);
    const open = calls.filter(({ isKnown }) => !isKnown);
    this.#know(open.length < 2 ? open[0] : (open.find(hasInput(input)) ?? open[0]));
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
      const id = textOf(message?.tool_call_id) ?? "";
      if (!this.#calls.has(id)) continue;
      const text = textOfResult(message);
      const isError = message?.status === "error" || NOT_MADE.some((known) => known.test(text));
      // A success may belong to a call of that ID that was made.
      if (!isError && (id === "" || this.#calls.get(id)?.length !== 1)) continue;
      const call = this.#find(id, message?.name, ({ args }) => text.includes(JSON.stringify(args)));
      if (call === undefined) continue;
      this.#know(call);
      if (isError) notMade(run, chainId, call, text, stepId);
    }
  }

  /** A model is asked: its newest messages may answer calls that nothing else reported. */
  askedAgain(run: RunState, modelCallId: string, messages: unknown, stepId?: string): void {
    if (this.#open === 0) return;
    const list = listOf(messages) ?? [];
    // Providers may use an ID again, so older messages may be about other calls.
    const at = list.findLastIndex((each) => listOf(fieldsOf(each)?.tool_calls)?.[0] !== undefined);
    if (at >= 0) this.answered(run, modelCallId, list.slice(at + 1), stepId);
  }

  /** A node failed: the error may be about a call that was not made. */
  threw(run: RunState, chainId: string, thrown: unknown, stepId?: string): void {
    if (this.#open === 0) return;
    const text = textProperty(thrown, "message") ?? "";
    const pending = this.#last.filter(({ isKnown }) => !isKnown);
    const missing = NO_TOOL.exec(text)?.[1];
    const isUnfit = missing === undefined && whyNotMade(text, true) === "tool_input_invalid";
    // The error does not name the call whose input does not fit.
    const about =
      isUnfit && pending.length === 1 ? pending : pending.filter(({ tool }) => tool === missing);
    for (const call of about) {
      this.#know(call);
      notMade(run, chainId, call, text, stepId, null);
    }
  }

  /** The call with that ID that is not known. Calls of that tool come first, then the one that fits best. */
  #find(id: string, tool: unknown, fits: (call: AskedCall) => boolean): AnsweredCall | undefined {
    const same = this.#calls.get(id) ?? [];
    const ofTool = same.filter((call) => call.tool === tool);
    const open = (ofTool.length > 0 ? ofTool : same).filter(({ isKnown }) => !isKnown);
    return open.length < 2 ? open[0] : (open.find(fits) ?? open[0]);
  }

  #know(call: AnsweredCall | undefined): void {
    if (call === undefined || call.isKnown) return;
    call.isKnown = true;
    this.#open -= 1;
  }
}

function hasInput(input: unknown): (call: AskedCall) => boolean {
  return ({ args }) => isSame(args, toolInput(input));
}

/** What LangGraph's tool node throws for a tool that it does not have. */
const NO_TOOL = /^Tool "(.{1,200})" not found/;

/** Messages about calls that were not made, without a status. */
const NOT_MADE = [
  // The tool node of older versions.
  /^Error: .*\n Please fix your mistakes\.$/s,
  // `toolStrategy` of `createAgent`: the structured answer is the input of a tool call.
  /^Failed to parse structured output for tool /,
  /^The model has called multiple tools: /,
  // The classic `AgentExecutor`.
  / is not a valid tool, try another one\.$/,
];

/** The model's calls whose input is not JSON. LangChain does not answer them. */
export function refuseUnreadable(
  run: RunState,
  { id: modelCallId, stepId }: Pick<ModelScope, "id" | "stepId">,
  calls: unknown,
): void {
  const seen = new Map<string, number>();
  for (const call of callsIn(listOf(calls) ?? [], "")) {
    const nth = seen.get(call.id) ?? 0;
    seen.set(call.id, nth + 1);
    notMade(run, modelCallId, { ...call, nth }, undefined, stepId);
  }
}

/**
 * @param text why. `undefined`: the input is not JSON, and no text is known.
 * @param shown what the model received. Default: that text.
 */
function notMade(
  run: RunState,
  within: string,
  call: Pick<AnsweredCall, keyof AskedCall | "nth">,
  text: string | undefined,
  stepId?: string,
  shown: string | null = text ?? null,
): void {
  const { args, id, nth, tool } = call;
  const toolUseId = id === "" ? run.writer.newId() : id;
  const key = nth === 0 ? id : `${id}:${nth}`;
  const code =
    text === undefined ? "tool_input_invalid" : whyNotMade(text, isOffered(run.tools, tool));
  run.totals.toolCalls += 1;
  run.writer.toolNotMade(
    { toolUseId, tool, ...startedNow() },
    { input: toolInput(args), code, text: shown, stepId },
    { eventId: `${within}:call-start:${key}` },
    { eventId: `${within}:call-end:${key}` },
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
