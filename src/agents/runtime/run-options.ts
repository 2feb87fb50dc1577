import { v7 as uuidv7 } from "uuid";
import {
  type AgentEventSink,
  checkFunction,
  checkOneOf,
  describe,
  type IsFailure,
  type LoopLimits,
  type LoopOptions,
  type RunContext,
  resolveLoopLimits,
} from "../../events/door.ts";
import { activeRun } from "./active-run.ts";
import { type Budget, type BudgetLimits, UsageBudget } from "./budget.ts";
import type { RunEnvelope } from "./event-line.ts";
import type { Price } from "./price.ts";
import {
  type Approve,
  checkApprove,
  type RunPolicy,
  type TerminalToolErrors,
} from "./run-policy.ts";
import { type RunSubject, type SubjectFields, subjectFields } from "./run-subject.ts";

/** The longest that Node's timers wait; beyond, they fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
const GRACE_MS = 5_000;

/**
 * Options of `runAgent` and `startRun`.
 *
 * Inside another run of the same tenant, `sink`, `tenant`, `threadId`, `user`, `session`, `tags`,
 * `metadata`, `approve`, `terminalToolErrors`, `onLoop`, `loops`, `isFailure`, `price`, `onError` and `graceMs` default to those
 * of that run. Its budget is shared.
 * If it is cancelled, this run is cancelled, too.
 *
 * @typeParam I what the agent works on.
 */
export interface RunOptions<I = unknown> extends RunSubject {
  /** Name of the agent: `gen_ai.agent.name`. */
  readonly agent: string;
  /** Where the events go. Required outside another run. */
  readonly sink?: AgentEventSink | undefined;
  /** Whose run it is. Required outside another run. */
  readonly tenant?: string | undefined;
  /** The conversation. */
  readonly threadId?: string | undefined;
  /**
   * The agent's input, available as `run.input`. Content: `started` has it as `details.input`, and the
   * run's span has it as messages where content is captured. Any JSON: a text is a message of the
   * user, messages stay messages (see `toMessages`), and anything else is shown as JSON.
   */
  readonly input?: I | undefined;
  /** Budget for this run and its sub-agents together. Their usage also counts in the parent run. */
  readonly budget?: BudgetLimits | undefined;
  /** Milliseconds from now after which the run ends `deadline_exceeded`. Default: none. */
  readonly deadlineMs?: number | undefined;
  /**
   * Cancels the run. It ends `cancelled`, or `deadline_exceeded` if the abort reason is a timeout.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called before each tool call. Default: all calls are allowed. */
  readonly approve?: Approve | undefined;
  /** Tool errors that end the run. Default: none, so the agent's function decides. */
  readonly terminalToolErrors?: TerminalToolErrors | undefined;
  /**
   * What happens when the run's own tool calls are in a loop. `"end"`: the call at which the loop is found is the
   * last one, and the run ends `usage_limit_exceeded` with the axis `tool_loop`. Default `"continue"`: the bridge
   * reports the loop, and the run goes on.
   */
  readonly onLoop?: "continue" | "end" | undefined;
  /** What counts as a loop with `onLoop: "end"`. Give the `Bridge` the same. Default: see {@link LoopOptions}. */
  readonly loops?: LoopOptions | undefined;
  /**
   * Which results of tools are failures. Default: those of MCP tools with `isError: true`, and
   * LangChain's `ToolMessage` with `status: "error"`. The call is then a `tool_error` with the wire
   * code `tool_result_error`, the caller gets the result, and the run continues.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Gives the price of a model call. It goes out with the call's end and counts against the budget.
   * Default: none, so the cost is known only from `addCost`.
   */
  readonly price?: Price | undefined;
  /** The ID of the interrupted run that this run resumes. */
  readonly resumedFromRunId?: string | undefined;
  /** Default: a UUID v7. */
  readonly runId?: string | undefined;
  /**
   * The parent run in another process, from `extract`. `null`: no parent, even inside another run.
   */
  readonly parent?: RunContext | null | undefined;
  /** Called with errors that do not end the run: errors of the sink, and invalid usage values. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * How long a pausing run waits for open calls, and how long a failed run waits for its sink, in
   * milliseconds. Default 5,000.
   */
  readonly graceMs?: number | undefined;
}

/** The options with everything that they leave to the place where the run begins. */
export interface RunPlan<I> {
  readonly agent: string;
  readonly sink: AgentEventSink;
  readonly tenantId: string;
  readonly runId: string;
  readonly rootRunId: string;
  readonly parent: RunContext | undefined;
  /** Started in the code of its parent, here. */
  readonly isInside: boolean;
  /** The step of its parent that started it. */
  readonly parentStepId: string | undefined;
  readonly threadId: string | undefined;
  readonly subject: SubjectFields;
  readonly resumedFromRunId: string | undefined;
  readonly input: I;
  readonly deadlineMs: number | undefined;
  /** What may call the run off from outside. */
  readonly signals: readonly AbortSignal[];
  readonly policy: Omit<RunPolicy, "signal">;
}

/** @throws TypeError or RangeError for an option that is missing or is not what it should be. */
export function planRun<I>(options: RunOptions<I>): RunPlan<I | undefined> {
  const here = activeRun();
  const tenantId = text(options.tenant ?? here?.tenantId, "tenant");
  // A run of another tenant is no child: no trace, thread or budget spans two tenants.
  const above = options.parent === undefined && here?.tenantId === tenantId ? here : undefined;
  const parent =
    above === undefined
      ? checkParent(options.parent)
      : {
          parent_run_id: above.runId,
          root_run_id: above.rootRunId,
          parent_tool_use_id: above.toolUseId,
          thread_id: above.threadId,
        };
  const runId = optionalText(options.runId, "runId") ?? uuidv7();
  const inherited = above?.policy;
  return {
    agent: text(options.agent, "agent"),
    sink: checkSink(options.sink ?? here?.sink),
    tenantId,
    runId,
    rootRunId: parent?.root_run_id ?? runId,
    parent,
    isInside: above !== undefined,
    parentStepId: above?.stepId,
    threadId: optionalText(options.threadId, "threadId") ?? parent?.thread_id,
    subject: subjectFields(options, above?.subject),
    resumedFromRunId: optionalText(options.resumedFromRunId, "resumedFromRunId"),
    input: options.input,
    deadlineMs: milliseconds(options.deadlineMs, "deadlineMs"),
    signals: [checkSignal(options.signal), inherited?.signal].filter((it) => it !== undefined),
    policy: {
      budget: budgetOf(options.budget, inherited?.budget),
      approve: checkApprove(options.approve) ?? inherited?.approve,
      terminalToolErrors:
        checkTerminal(options.terminalToolErrors) ?? inherited?.terminalToolErrors,
      isFailure: checkIsFailure(options.isFailure) ?? inherited?.isFailure,
      price: checkPrice(options.price) ?? inherited?.price,
      loops: loopsOf(options, inherited?.loops),
      onError: checkOnError(options.onError) ?? inherited?.onError,
      graceMs: milliseconds(options.graceMs, "graceMs") ?? inherited?.graceMs ?? GRACE_MS,
    },
  };
}

function loopsOf(
  { loops, onLoop }: Pick<RunOptions, "loops" | "onLoop">,
  above: LoopLimits | undefined,
): LoopLimits | undefined {
  checkOneOf(onLoop, "onLoop", ["continue", "end"]);
  const limits = resolveLoopLimits(loops);
  if (onLoop === "continue") return undefined;
  const isOwn = onLoop === "end" || (above !== undefined && loops !== undefined);
  return isOwn ? limits : above;
}

function budgetOf(limits: BudgetLimits | undefined, above: Budget | undefined): Budget {
  if (limits === undefined && above !== undefined) return above;
  return new UsageBudget(limits, above);
}

function text(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${field}: expected a text that is not empty, got ${describe(value)}`);
}

function optionalText(value: unknown, field: string): string | undefined {
  return value === undefined ? undefined : text(value, field);
}

function milliseconds(value: unknown, field: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= 0 && value <= LONGEST_MS) return value;
  const got = typeof value === "number" ? value : describe(value);
  throw new RangeError(`${field}: expected milliseconds from 0 to ${LONGEST_MS}, got ${got}`);
}

function checkSink(sink: AgentEventSink | undefined): AgentEventSink {
  if (typeof sink?.send === "function") return sink;
  throw new TypeError(`sink: expected an object with a function "send", got ${describe(sink)}`);
}

function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || typeof signal?.addEventListener === "function") {
    return signal;
  }
  throw new TypeError(`signal: expected an AbortSignal, got ${describe(signal)}`);
}

function checkOnError(onError: RunPolicy["onError"]): RunPolicy["onError"] {
  checkFunction(onError, "onError");
  return onError;
}

function checkIsFailure(isFailure: IsFailure | undefined): IsFailure | undefined {
  checkFunction(isFailure, "isFailure");
  return isFailure;
}

function checkPrice(price: Price | undefined): Price | undefined {
  checkFunction(price, "price");
  return price;
}

function checkTerminal(policy: TerminalToolErrors | undefined): TerminalToolErrors | undefined {
  if (policy === undefined || typeof policy === "function" || Array.isArray(policy)) return policy;
  throw new TypeError(
    `terminalToolErrors: expected a list of kinds or a function, got ${describe(policy)}`,
  );
}

function checkParent(parent: RunContext | null | undefined): RunContext | undefined {
  if (parent === null || parent === undefined) return undefined;
  text(parent.parent_run_id, "parent.parent_run_id");
  text(parent.root_run_id, "parent.root_run_id");
  const { parent_tool_use_id, traceparent, tracestate, thread_id } = parent;
  // Else the audit log would refuse the rows of the run, and its recording could not be read.
  for (const [field, value] of Object.entries({
    parent_tool_use_id,
    traceparent,
    tracestate,
    thread_id,
  })) {
    if (value === undefined || value === null || typeof value === "string") continue;
    throw new TypeError(`parent.${field}: expected a text, got ${typeof value}`);
  }
  return parent;
}

/** What every event of a run says of its place, so that none of them needs another to be placed. */
export function envelopeFor({
  rootRunId,
  threadId,
  parent,
  isInside,
  subject,
  resumedFromRunId,
}: RunPlan<unknown>): RunEnvelope {
  const { traceparent, tracestate } = parent ?? {};
  // Here it is known, also that it is none; in another process it may just not have been said.
  const toolUseId = isInside ? (parent?.parent_tool_use_id ?? null) : parent?.parent_tool_use_id;
  return {
    root_run_id: rootRunId,
    ...(threadId === undefined ? {} : { thread_id: threadId }),
    ...(toolUseId === undefined ? {} : { parent_tool_use_id: toolUseId }),
    ...(resumedFromRunId === undefined ? {} : { resumed_from_run_id: resumedFromRunId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
    ...subject,
  };
}
