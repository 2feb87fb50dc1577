import { property } from "../../events/door.ts";
import { fieldIn, listOf, textOf } from "../core/door.ts";
import type { SdkSpanData, SdkSpanError } from "./sdk.ts";
import { type AskedCall, isNoJson, type ModelAnswer, withoutHandoffs } from "./span-answer.ts";
import type { AgentRun, OpenSpan } from "./trace-record.ts";

// Joins the calls that a model asked for with the spans of tools, which have no call ID.

/** Maximum number of IDs that a run remembers. */
const MOST_MADE = 10_000;

/** The call is made. */
export function begins(run: AgentRun, call: AskedCall): void {
  call.begun = true;
  run.made ??= new Set();
  if (run.made.size >= MOST_MADE) run.made.clear();
  run.made.add(call.id);
}

/** The model answered. */
export function asks(run: AgentRun, { asked, tools }: ModelAnswer): void {
  run.tools = tools;
  run.unread = asked === undefined;
  run.asked = withoutHandoffs(asked ?? [], run.span?.spanData);
  const ids = new Set<string>();
  const offered = listOf(run.span?.spanData.tools);
  for (const call of run.asked) {
    if (call.spanNames === undefined) call.tool = ownName(call.tool, offered, listOf(tools));
    const { bare, id, tool } = call;
    call.isMissing = bare && offered?.includes(tool) === false;
    call.isVoid = call.isMissing || ids.has(id) || run.made?.has(id) === true;
    ids.add(id);
  }
  // The end of a model call may arrive after the start of its tools.
  for (const name of run.unasked ?? []) {
    const call = callsNamed(run.asked, name).find(({ begun }) => !begun);
    if (call !== undefined) begins(run, call);
  }
}

/**
 * The name that the application gave to OpenAI's shell, editor or computer. The agent's span has all names, and the
 * request all kinds, in one order.
 */
function ownName(
  kind: string,
  names: readonly unknown[] | undefined,
  definitions: readonly unknown[] | undefined,
): string {
  if (names === undefined || names.includes(kind)) return kind;
  let index = names.length === 1 ? 0 : -1;
  if (definitions?.length === names.length) {
    index = definitions.findIndex((tool) => textOf(fieldIn(tool, "type"))?.startsWith(kind));
  }
  return textOf(names[index]) ?? kind;
}

/** Whether another waiting call has the same tool and input. Only a rejection tells them apart then. */
export function hasTwin(run: AgentRun, { span }: OpenSpan): boolean {
  if (!run.resumed) return false;
  const { name, input } = span.spanData;
  const equal = callsNamed(run.asked, textOf(name) ?? "").filter(
    (call) => !call.begun && call.input === input,
  );
  return equal.length > 1;
}

/**
 * The call of the model's last answer that a tool's span belongs to, found by name and arguments, because the span
 * has no call ID. `undefined` if several calls match. From 0.20 on, the SDK hides arguments that are not JSON.
 */
export function askedCall(
  run: AgentRun,
  name: string,
  input: string | undefined,
): AskedCall | undefined {
  const named = callsNamed(run.asked, name);
  const isHidden = (call: AskedCall) => !call.begun && call.bare && isNoJson(call.input);
  let found = input === undefined ? named.find(isHidden) : undefined;
  if (found !== undefined) return found;
  let again: AskedCall | undefined;
  for (const call of named) {
    if (input !== undefined && call.input !== undefined && call.input !== input) continue;
    if (call.begun) again ??= call;
    else if (found === undefined) found = call;
    else if (input === undefined) return undefined;
    else if (!hasParts(input, found) && hasParts(input, call)) found = call;
  }
  // After a pause, an agent used as a tool makes the same call again.
  return found ?? (run.resumed ? again : undefined);
}

/** The calls that a tool's span of that name may belong to. */
function callsNamed(asked: readonly AskedCall[], name: string): readonly AskedCall[] {
  const named = asked.filter(({ spanNames }) => spanNames?.includes(name) === true);
  return named.length > 0 ? named : asked.filter(({ spanNames }) => spanNames === undefined);
}

const hasParts = (input: string, { parts }: AskedCall) =>
  parts.every((part) => input.includes(part));

/** Whether the SDK did not call the tool, because the input does not fit. From 0.20 on, it hides its error. */
export function isUnfit(
  run: AgentRun,
  toolUseId: string,
  error: SdkSpanError,
  { input, output }: SdkSpanData,
): boolean {
  if (textOf(property(error.data, "error"))?.startsWith("InvalidToolInputError: ")) return true;
  // It also hides such an input. If the trace has no sensitive data, it hides the output, too.
  if (textOf(input) === undefined && textOf(output) !== undefined) return true;
  return run.asked.some(({ bare, id, input }) => bare && id === toolUseId && isNoJson(input));
}
