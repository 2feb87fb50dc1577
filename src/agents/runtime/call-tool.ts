import {
  AgentError,
  checkEach,
  checkedElsewhere,
  exceptionDetails,
  failureInResult,
  knownError,
  type OptionChecks,
  operatorText,
  recordSource,
  schemaIn,
} from "../../events/door.ts";
import { type Timed, toolFailureOf, type ToolCall as WrittenCall } from "../writer/door.ts";
import { carried, currentIn } from "./active-run.ts";
import type { Measured, OpenCall } from "./open-call.ts";
import { checkCallTexts, type RunCore, refuseAt, tracked } from "./open-call.ts";
import { interruptionIn, ToolDeniedError } from "./run-errors.ts";
import { type Approve, checkApprove, isTerminal } from "./run-policy.ts";
import type { LoopCall } from "./tool-loops.ts";
import { reportLongWait, verdictOf } from "./verdict.ts";

/** Options of `run.tool`. */
export interface ToolOptions<I = unknown> {
  readonly version?: string | undefined;
  /** Content: the tool's input. The sink receives it unchanged. Default `null`. */
  readonly input?: I | undefined;
  /** The model's ID of the call. Default: a UUID v7. */
  readonly id?: string | undefined;
  /**
   * The schema of the input: a JSON Schema, or a schema of a library that implements Standard JSON Schema. If `fn`
   * throws an error of a schema library, the text for the model names the properties of this schema. The input is not
   * validated. Default: none. The text has `*` instead of each name then.
   */
  readonly schema?: object | undefined;
  /** Replaces the run's `approve` for this call. */
  readonly approve?: Approve<I> | undefined;
}

const CHECKS: OptionChecks<ToolOptions> = {
  version: checkedElsewhere,
  input: checkedElsewhere,
  id: checkedElsewhere,
  schema: checkedElsewhere,
  approve: checkedElsewhere,
};

/** The argument of a tool call's function. */
export interface ToolCall<I = unknown> {
  /** Aborted when the run ends before the call. The call's result is ignored then. */
  readonly signal: AbortSignal;
  readonly toolUseId: string;
  readonly input: I;
}

/** The function of a tool call. */
export type ToolFunction<T, I = unknown> = (call: ToolCall<I>) => T | PromiseLike<T>;

interface Dispatch<T, I> extends Omit<WrittenCall, keyof Timed>, Measured {
  readonly run: RunCore;
  readonly call: OpenCall;
  options: ToolOptions<I>;
  readonly fn: ToolFunction<T, I | undefined>;
}

/** Calls a tool, with approval, events, span context and errors. See `AgentRun.tool`. */
export function callTool<T, I>(
  run: RunCore,
  name: string,
  asked: ToolOptions<I>,
  fn: ToolFunction<T, I | undefined>,
): Promise<T> {
  return tracked(run, async (call) => {
    const options = checkEach<ToolOptions<I>>(asked, CHECKS);
    checkCallTexts("tool", name, { id: options.id, version: options.version });
    checkSchema(name, options.schema);
    const ask: Approve<I> | Approve | undefined =
      checkApprove(options.approve) ?? run.policy.approve;
    const toolUseId = options.id ?? run.writer.newId();
    // No spread: adding fields after one is slow.
    const dispatch: Dispatch<T, I> = {
      run,
      call,
      tool: name,
      toolUseId,
      version: options.version,
      key: undefined,
      startedMs: 0,
      durationMs: undefined,
      details: undefined,
      options,
      fn,
    };
    run.assertOpen(`tool ${name}`);
    // A call that exceeds the budget needs no approval.
    refuseAt(run, call, run.policy.budget.checkToolCall());
    run.track(call);
    if (ask === undefined) {
      refuseAt(run, call, run.policy.budget.takeToolCall());
      return make(dispatch);
    }
    run.writer.begin(dispatch);
    try {
      await approve(dispatch, ask);
      call.assertNotCut();
      run.assertOpen(`tool ${name}`);
      refuseAt(run, call, run.policy.budget.takeToolCall());
    } catch (error) {
      run.writer.open.delete(dispatch);
      throw error;
    }
    return make(dispatch);
  });
}

function checkSchema(name: string, schema: unknown): void {
  if (schema === undefined || schema === null) return;
  if (typeof schema === "object" || typeof schema === "function") return;
  throw new TypeError(`tool ${name}: expected schema to be a schema, got ${typeof schema}`);
}

/** Asks for a decision, which may edit the call's input. @throws if the call may not be made. */
async function approve<T, I>(dispatch: Dispatch<T, I>, ask: Approve<I> | Approve): Promise<void> {
  const { run, call, tool, toolUseId, version, options } = dispatch;
  const { sink, tenantId, runId, threadId } = run.current;
  // By the overloads of `AgentRun.tool`, the input is `undefined` if none is given.
  const input = options.input as I;
  const { signal } = call;
  const pending = { tool, version, toolUseId, input, runId, tenantId, threadId, signal };
  let decision: ReturnType<typeof verdictOf>;
  const askedAt = performance.now();
  try {
    const asked = carried(sink, {}, run.current, async () => ask(pending));
    const answer = await reportLongWait(asked, () => {
      if (!call.isCut) void run.writer.toolAsked(dispatch);
    });
    decision = verdictOf(answer, performance.now() - askedAt);
  } catch (error) {
    const interruption = interruptionIn(error);
    if (interruption !== undefined && !call.isCut) run.pause(interruption);
    throw error;
  }
  if (call.isCut || decision === "exempt") return;
  if (decision === "external") throw awaitExternal(dispatch);
  const { approved, details, edited, reason } = decision;
  if (approved) {
    const proposed = edited === undefined ? undefined : { proposed_input: input ?? null };
    await run.writer.toolApproved(dispatch, { ...details, ...proposed });
    // By the approver's type, it is an input of the tool.
    if (edited !== undefined) dispatch.options = { ...options, input: edited.input as I };
    return;
  }
  await run.writer.toolDenied(dispatch, reason, details);
  throw new ToolDeniedError(tool, reason);
}

/** Payload and kind are the same as entelix's. */
function awaitExternal<T, I>(dispatch: Dispatch<T, I>): AgentError {
  const { run, options, toolUseId, tool } = dispatch;
  const payload = {
    run_id: run.current.runId,
    tool_use_id: toolUseId,
    tool,
    input: options.input ?? null,
  };
  const error = AgentError.interrupted(
    { type: "approval_pending", tool_use_id: toolUseId },
    payload,
  );
  const interruption = interruptionIn(error);
  if (interruption !== undefined) run.pause(interruption);
  return error;
}

/** Makes the call. `fn` is called after the sink accepted the start. */
async function make<T, I>(dispatch: Dispatch<T, I>): Promise<T> {
  const { run, call, tool, toolUseId, options, fn } = dispatch;
  const { writer } = run;
  const { input } = options;
  const toolCall = {
    toolUseId,
    input,
    get signal() {
      return call.signal;
    },
  };
  const looked = run.loops?.started(tool, input);
  call.begin((error) => {
    if (looked !== undefined) run.loops?.dropped(looked);
    void writer.toolCut(dispatch, error);
  }, dispatch);
  const sent = writer.toolStarted(dispatch, input ?? null);
  if (sent !== undefined) await sent;
  call.assertNotCut();
  call.restart();
  let output: T;
  try {
    const { key } = dispatch;
    const current = { ...currentIn(run.current), toolUseId, callKey: key, tool };
    const target = { tool_use_id: key ?? toolUseId };
    output = await carried(run.current.sink, target, current, async () => fn(toolCall));
  } catch (error) {
    if (!call.isCut) await fail(dispatch, error, looked);
    throw error;
  }
  call.assertNotCut();
  call.end();
  const { isFailure, onError } = run.policy;
  const failure = failureInResult(output, dispatch, isFailure, onError);
  if (failure !== undefined) {
    const sent = writer.toolReturnedFailure(dispatch, failure);
    refuseLoop(dispatch, looked, true, failure.error);
    await sent;
    return output;
  }
  const ended = writer.toolCompleted(dispatch, output ?? null);
  refuseLoop(dispatch, looked, false, output);
  await ended;
  return output;
}

/** @throws the error that ends the run, if its calls are in a loop. */
function refuseLoop<T, I>(
  { run, call }: Dispatch<T, I>,
  looked: LoopCall | undefined,
  failed: boolean,
  result: unknown,
): void {
  if (looked !== undefined) refuseAt(run, call, run.loops?.ended(looked, failed, result));
}

/** Reports a failed call. If the failure ends or pauses the run, this happens at once. */
async function fail<T, I>(
  dispatch: Dispatch<T, I>,
  error: unknown,
  looked: LoopCall | undefined,
): Promise<void> {
  const { run, call, tool, toolUseId, options } = dispatch;
  call.end();
  const source = recordSource(
    error,
    { origin: "tool", tool, schema: options.schema },
    { rootRunId: run.current.rootRunId, since: call.since },
  );
  const fields = toolFailureOf(error, source);
  const sent = run.writer.toolThrew(dispatch, fields, exceptionDetails(error));
  const interruption = interruptionIn(error);
  const counts = interruption === undefined && fields.envelope.cancelled !== true;
  if (!counts && looked !== undefined) run.loops?.dropped(looked);
  if (interruption !== undefined) return run.pause(interruption);
  const known = knownError(error, schemaIn(source));
  const isLeafs = known?.detail.type === "tool_error_terminal";
  const failed = { tool, toolUseId, kind: fields.kind, error };
  if (isLeafs || isTerminal(run.policy.terminalToolErrors, failed, run.policy.onError)) {
    const cause = known ?? AgentError.config(operatorText(error), { cause: error });
    const ending =
      isLeafs || source.origin !== "tool"
        ? cause
        : AgentError.toolErrorTerminal(fields.kind, source.tool ?? tool, cause);
    call.reject(ending);
    return run.fail(ending);
  }
  if (counts) refuseLoop(dispatch, looked, true, fields.error);
  if (sent !== undefined) await sent;
}
