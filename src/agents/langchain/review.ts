import type { DecisionDetails } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/narrow.ts";

// What people decide about tool calls, as LangChain's `humanInTheLoopMiddleware` asks and is answered:
// an interrupt with `actionRequests`, resumed with one of `decisions` for each. No decision names its
// call. The calls are those of the last answer of a model in the state that the asking node is given.

/** A tool call of a model's answer. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  /** Content. */
  readonly args: unknown;
}

/** A decision, and the call that it is about. */
export interface DecidedCall {
  readonly toolUseId: string;
  readonly tool: string;
  readonly approved: boolean;
  /** Content: why it was denied, or the answer in place of the tool. */
  readonly reason: string;
  readonly details: DecisionDetails;
}

/** Most decisions and calls of one answer that are looked at. */
const MOST = 1000;

/** The tool calls of the last answer of a model among the messages; `undefined` where there is none. */
export function lastCalls(state: unknown): readonly AskedCall[] | undefined {
  const messages = listOf(fieldsOf(state)?.messages) ?? [];
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const calls = listOf(fieldsOf(messages[at])?.tool_calls);
    if (calls !== undefined) return calls.slice(0, MOST).flatMap(callIn);
  }
  return undefined;
}

function callIn(call: unknown): readonly AskedCall[] {
  const fields = fieldsOf(call);
  const id = textOf(fields?.id);
  const tool = textOf(fields?.name);
  return id === undefined || tool === undefined ? [] : [{ id, tool, args: fields?.args }];
}

/**
 * The calls that an interrupt asks about, in its order; `undefined` where it asks about none, or not
 * all of them are known.
 */
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
    // Of some calls of a tool that are not equal, no more is known than that it is one of them.
    const call = equal[0] ?? (ofTool.length === 1 ? ofTool[0] : undefined);
    if (call === undefined) return undefined;
    left.splice(left.indexOf(call), 1);
    found.push(call);
  }
  return found;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** What a `Command` answers: one list of decisions, or one for each interrupt by its id. */
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

/** The decisions that answer one interrupt. */
export interface Answer {
  readonly interruptId: string | undefined;
  readonly decisions: readonly unknown[];
}

/**
 * The calls that decisions are about, where the interrupt was not seen: all, if they are as many. Else
 * the middleware leaves behind what it was not asked about at the front of the model's answer, and
 * after it the calls that go on: of some with rejections, the rejected ones alone.
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

/** What one decision says; `undefined` for none that the middleware knows. */
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

/** What the model is told in place of a tool's result. */
function answerTo(toolUseId: string, outputs: unknown): string | undefined {
  const messages: readonly unknown[] = listOf(fieldsOf(outputs)?.messages) ?? [];
  const found = messages
    .map(fieldsOf)
    .find((message): message is Fields => message?.tool_call_id === toolUseId);
  return textOf(found?.content);
}
