import {
  AgentError,
  callErrorHook,
  classifyToolError,
  cutText,
  exceptionDetails,
  type FailureSource,
  failureInResult,
  knownError,
  operatorText,
  recordSource,
  renderForLlm,
  resultException,
  schemaIn,
  toolEnvelopeOf,
} from "../../events/door.ts";
import { carried, currentIn } from "./active-run.ts";
import type { OpenCall } from "./open-call.ts";
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

/** The argument of a tool call's function. */
export interface ToolCall<I = unknown> {
  /** Aborted when the run ends before the call. The call's result is ignored then. */
  readonly signal: AbortSignal;
  readonly toolUseId: string;
  readonly input: I;
}

/** The function of a tool call. */
export type ToolFunction<T, I = unknown> = (call: ToolCall<I>) => T | PromiseLike<T>;

interface Dispatch<T, I> {
  readonly run: RunCore;
  readonly call: OpenCall;
  readonly name: string;
  readonly toolUseId: string;
  readonly options: ToolOptions<I>;
  readonly fn: ToolFunction<T, I | undefined>;
}

/** Calls a tool, with approval, events, span context and errors. See `AgentRun.tool`. */
export function callTool<T, I>(
  run: RunCore,
  name: string,
  options: ToolOptions<I>,
  fn: ToolFunction<T, I | undefined>,
): Promise<T> {
  return tracked(run, async (call) => {
    checkCallTexts("tool", name, { id: options.id, version: options.version });
    checkSchema(name, options.schema);
    const ask: Approve<I> | Approve | undefined =
      checkApprove(options.approve) ?? run.policy.approve;
    const toolUseId = options.id ?? run.newId();
    const dispatch = { run, call, name, toolUseId, options, fn };
    run.assertOpen(`tool ${name}`);
    // A call that exceeds the budget needs no approval.
    refuseAt(run, call, run.policy.budget.checkToolCall());
    run.track(call);
    if (ask === undefined) {
      refuseAt(run, call, run.policy.budget.takeToolCall());
      return make(dispatch);
    }
    const approved = await approve(dispatch, ask);
    call.assertNotCut();
    run.assertOpen(`tool ${name}`);
    refuseAt(run, call, run.policy.budget.takeToolCall());
    return make(approved);
  });
}

function checkSchema(name: string, schema: unknown): void {
  if (schema === undefined || schema === null) return;
  if (typeof schema === "object" || typeof schema === "function") return;
  throw new TypeError(`tool ${name}: expected schema to be a schema, got ${typeof schema}`);
}

function namesOf<T, I>({ run, name, toolUseId }: Dispatch<T, I>) {
  const { run_id, tenant_id } = run.ids;
  return { run_id, tenant_id, tool_use_id: toolUseId, tool: name };
}

/** @returns the approved call. Its input may have been edited. */
async function approve<T, I>(
  dispatch: Dispatch<T, I>,
  ask: Approve<I> | Approve,
): Promise<Dispatch<T, I>> {
  const { run, call, name, toolUseId, options } = dispatch;
  const { sink, tenantId, runId, threadId } = run.current;
  const { version } = options;
  // By the overloads of `AgentRun.tool`, the input is `undefined` if none is given.
  const input = options.input as I;
  const { signal } = call;
  const pending = { tool: name, version, toolUseId, input, runId, tenantId, threadId, signal };
  let decision: ReturnType<typeof verdictOf>;
  const askedAt = performance.now();
  try {
    const asked = carried(sink, {}, run.current, async () => ask(pending));
    const answer = await reportLongWait(asked, () => {
      if (!call.isCut) void run.send({ type: "tool_call_asked", ...namesOf(dispatch) });
    });
    decision = verdictOf(answer, performance.now() - askedAt);
  } catch (error) {
    const interruption = interruptionIn(error);
    if (interruption !== undefined && !call.isCut) run.pause(interruption);
    throw error;
  }
  if (call.isCut) return dispatch;
  const names = namesOf(dispatch);
  if (decision === "exempt") return dispatch;
  if (decision === "external") throw awaitExternal(dispatch);
  const { approved, details, edited, reason } = decision;
  if (approved) {
    const proposed = edited === undefined ? undefined : { proposed_input: input ?? null };
    await run.send(
      { type: "tool_call_approved", ...names },
      { decision: { ...details, ...proposed } },
    );
    // By the approver's type, it is an input of the tool.
    return edited === undefined
      ? dispatch
      : { ...dispatch, options: { ...options, input: edited.input as I } };
  }
  await run.send({ type: "tool_call_denied", ...names, reason }, { decision: details });
  throw new ToolDeniedError(name, reason);
}

/** Payload and kind are the same as upstream's. */
function awaitExternal<T, I>(dispatch: Dispatch<T, I>): AgentError {
  const { run, options, toolUseId, name } = dispatch;
  const payload = {
    run_id: run.ids.run_id,
    tool_use_id: toolUseId,
    tool: name,
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
  const { run, call, toolUseId, options, fn } = dispatch;
  const { run_id, tenant_id } = run.ids;
  const tool_version = options.version ?? null;
  const names = { run_id, tenant_id, tool_use_id: toolUseId, tool: dispatch.name, tool_version };
  const { input } = options;
  const toolCall = {
    toolUseId,
    input,
    get signal() {
      return call.signal;
    },
  };
  const looked = run.loops?.started(dispatch.name, input);
  call.begin((error, duration_ms) => {
    if (looked !== undefined) run.loops?.dropped(looked);
    void run.send({
      type: "tool_error",
      ...names,
      ...errorFields(error, { origin: "tool", tool: dispatch.name }),
      error: cutText(error),
      duration_ms,
    });
  });
  const sent = run.send({ type: "tool_start", ...names, input: input ?? null });
  if (sent !== undefined) await sent;
  call.assertNotCut();
  call.restart();
  let output: T;
  try {
    const current = { ...currentIn(run.current), toolUseId, tool: dispatch.name };
    output = await carried(run.current.sink, { tool_use_id: toolUseId }, current, async () =>
      fn(toolCall),
    );
  } catch (error) {
    if (!call.isCut) await fail(dispatch, names, error, looked);
    throw error;
  }
  call.assertNotCut();
  const duration_ms = call.end();
  const { isFailure, onError } = run.policy;
  const failure = failureInResult(output, { tool: dispatch.name, toolUseId }, isFailure, (error) =>
    callErrorHook(onError, error),
  );
  if (failure !== undefined) {
    const event = { type: "tool_error", ...names, ...failure, duration_ms } as const;
    const sent = run.send(event, resultException(failure));
    refuseLoop(dispatch, looked, true, failure.error);
    await sent;
    return output;
  }
  const ended = run.send({ type: "tool_complete", ...names, duration_ms, output: output ?? null });
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
  names: ReturnType<typeof namesOf> & { readonly tool_version: string | null },
  error: unknown,
  looked: LoopCall | undefined,
): Promise<void> {
  const { run, call, name, toolUseId, options } = dispatch;
  const duration_ms = call.end();
  const source = recordSource(
    error,
    { origin: "tool", tool: name, schema: options.schema },
    { rootRunId: run.current.rootRunId, since: call.since },
  );
  const fields = errorFields(error, source);
  const event = { type: "tool_error", ...names, ...fields, duration_ms } as const;
  const sent = run.send(event, exceptionDetails(error));
  const interruption = interruptionIn(error);
  const counts = interruption === undefined && fields.envelope.cancelled !== true;
  if (!counts && looked !== undefined) run.loops?.dropped(looked);
  if (interruption !== undefined) return run.pause(interruption);
  const known = knownError(error, schemaIn(source));
  const isLeafs = known?.detail.type === "tool_error_terminal";
  const failed = { tool: name, toolUseId, kind: fields.kind, error };
  if (isLeafs || isTerminal(run.policy.terminalToolErrors, failed)) {
    const cause = known ?? AgentError.config(operatorText(error), { cause: error });
    const ending =
      isLeafs || source.origin !== "tool"
        ? cause
        : AgentError.toolErrorTerminal(fields.kind, source.tool ?? name, cause);
    call.reject(ending);
    return run.fail(ending);
  }
  if (counts) refuseLoop(dispatch, looked, true, fields.error);
  if (sent !== undefined) await sent;
}

function errorFields(error: unknown, source: FailureSource) {
  return {
    error: operatorText(error),
    error_for_llm: renderForLlm(error, source),
    envelope: toolEnvelopeOf(error, source),
    kind: classifyToolError(error, source),
  };
}
