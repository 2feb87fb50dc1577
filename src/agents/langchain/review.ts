import type { DecisionDetails } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";

// Decisions about tool calls with LangChain's `humanInTheLoopMiddleware`. It interrupts with `actionRequests`, and is
// resumed with one entry of `decisions` for each. A decision does not name its call. The calls are in the model's
// last answer in the state of the asking node.

/** A tool call in a model's answer. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  /** Content. */
  readonly args: unknown;
}

/** A decision and its call. */
export interface DecidedCall {
  readonly toolUseId: string;
  readonly tool: string;
  readonly approved: boolean;
  /** Content: the reason of a denial, or the answer that replaces the tool's result. */
  readonly reason: string;
  readonly details: DecisionDetails;
}

/** Maximum number of decisions and calls of one answer that are read. */
const MOST = 1000;

/** The tool calls of the model's last answer in a state. `undefined`: no message has any. */
export function lastCalls(state: unknown): readonly AskedCall[] | undefined {
  const messages = listOf(fieldsOf(state)?.messages) ?? [];
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const calls = listOf(fieldsOf(messages[at])?.tool_calls);
    if (calls !== undefined) return callsIn(calls.slice(0, MOST));
  }
  return undefined;
}

/** Those of them that no later message of the state answers. */
export function openCallsIn(state: unknown): readonly AskedCall[] {
  const calls = lastCalls(state) ?? [];
  if (calls.length === 0) return calls;
  const messages = listOf(fieldsOf(state)?.messages) ?? [];
  const answered = new Set(messages.slice(-MOST).map((each) => fieldsOf(each)?.tool_call_id));
  return calls.filter(({ id }) => !answered.has(id));
}

/** @param unnamed the ID of calls without one. Default: they are left out. */
export function callsIn(calls: readonly unknown[], unnamed?: string): readonly AskedCall[] {
  const found: AskedCall[] = [];
  for (const call of calls) {
    const fields = fieldsOf(call);
    const id = textOf(fields?.id) ?? unnamed;
    const tool = textOf(fields?.name);
    if (id !== undefined && tool !== undefined) found.push({ id, tool, args: fields?.args });
  }
  return found;
}

/** The calls that an interrupt asks about, in its order. `undefined`: none, or not all of them are known. */
export function requestedCalls(
  interrupt: unknown,
  calls: readonly AskedCall[],
): readonly AskedCall[] | undefined {
  const requests = listOf(fieldsOf(fieldsOf(interrupt)?.value)?.actionRequests);
  if (requests === undefined || requests.length === 0 || requests.length > MOST) return undefined;
  const left = [...calls];
  const found: AskedCall[] = [];
  for (const request of requests) {
    const { name, args } = fieldsOf(request) ?? {};
    const ofTool = left.filter(({ tool }) => tool === name);
    const equal = ofTool.filter((call) => isSame(call.args, args));
    // Several calls of a tool that differ from the request: the right one is not known.
    const call = equal[0] ?? (ofTool.length === 1 ? ofTool[0] : undefined);
    if (call === undefined) return undefined;
    left.splice(left.indexOf(call), 1);
    found.push(call);
  }
  return found;
}

export function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The decisions in a `Command`: one list, or one for each interrupt by its ID. */
export function answersIn(inputs: unknown): readonly Answer[] {
  const command = fieldsOf(inputs);
  if (command?.lg_name !== "Command") return [];
  const resume = fieldsOf(command.resume);
  if (resume === undefined) return [];
  const only = listOf(resume.decisions);
  if (only !== undefined) return [{ interruptId: undefined, decisions: only.slice(0, MOST) }];
  return Object.entries(resume)
    .slice(0, MOST)
    .flatMap(([interruptId, value]) => {
      const decisions = listOf(fieldsOf(value)?.decisions);
      return decisions === undefined ? [] : [{ interruptId, decisions: decisions.slice(0, MOST) }];
    });
}

export interface Answer {
  readonly interruptId: string | undefined;
  readonly decisions: readonly unknown[];
}

/**
 * The calls of decisions whose interrupt was not seen: all calls, if the numbers match. Otherwise the calls that
 * remain in the model's answer show which needed no decision: those come first. After them, the middleware keeps
 * the approved calls, or only the rejected ones if any was rejected.
 */
export function undecided(
  decisions: readonly unknown[],
  calls: readonly AskedCall[],
  outputs: unknown,
): readonly AskedCall[] | undefined {
  if (decisions.length === calls.length) return calls;
  const left = lastCalls(outputs);
  if (left === undefined) return undefined;
  const rejected = decisions.filter((one) => fieldsOf(one)?.type === "reject").length;
  const exempt = left.length - (rejected === 0 ? decisions.length : rejected);
  if (exempt < 0) return undefined;
  const exemptIds = new Set(left.slice(0, exempt).map(({ id }) => id));
  const decided = calls.filter(({ id }) => !exemptIds.has(id));
  return decided.length === decisions.length ? decided : undefined;
}

/** Reads one decision. `undefined` if the middleware does not know its type. */
export function decidedCall(
  given: unknown,
  call: AskedCall,
  outputs: unknown,
): DecidedCall | undefined {
  const decision = fieldsOf(given);
  const { id: toolUseId, tool } = call;
  const common = { toolUseId, tool, approved: false, reason: "" };
  switch (decision?.type) {
    case "approve":
      return { ...common, approved: true, details: { outcome: "approved", by: "user" } };
    case "edit": {
      const edited = textOf(fieldsOf(decision.editedAction)?.name);
      const details = { outcome: "edited", by: "user", proposed_input: call.args } as const;
      return { ...common, tool: edited ?? tool, approved: true, details };
    }
    case "reject":
      return {
        ...common,
        reason: textOf(decision.message) ?? answerTo(toolUseId, outputs) ?? "",
        details: { outcome: "denied", by: "user" },
      };
    case "respond":
      return {
        ...common,
        reason: answerTo(toolUseId, outputs) ?? textOf(decision.message) ?? "",
        details: { outcome: "answered", by: "user" },
      };
    default:
      return undefined;
  }
}

/** The text that the model gets instead of a tool's result. */
function answerTo(toolUseId: string, outputs: unknown): string | undefined {
  const messages: readonly unknown[] = listOf(fieldsOf(outputs)?.messages) ?? [];
  const found = messages
    .map(fieldsOf)
    .find((message): message is Fields => message?.tool_call_id === toolUseId);
  return textOf(found?.content);
}
