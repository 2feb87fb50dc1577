import { v7 as uuidv7 } from "uuid";
import {
  type AgentEventSink,
  among,
  checkEach,
  checkedElsewhere,
  checkFunction,
  checkGiven,
  describe,
  type IsFailure,
  LOOP_CHECKS,
  type LoopLimits,
  type LoopOptions,
  nested,
  type OptionChecks,
  type RunContext,
  resolveLoopLimits,
  withoutAdded,
} from "../../events/door.ts";
import type { RunRef, SubjectFields } from "../writer/door.ts";
import { activeRun } from "./active-run.ts";
import { BUDGET_CHECKS, type Budget, type BudgetLimits, UsageBudget } from "./budget.ts";
import type { Price } from "./price.ts";
import { type Approve, type RunPolicy, sayOnce, type TerminalToolErrors } from "./run-policy.ts";
import { type RunSubject, subjectFields } from "./run-subject.ts";

/** Maximum of Node's timers. A longer timer would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
const GRACE_MS = 5_000;

/**
 * Options of `runAgent` and `startRun`.
 *
 * Inside another run of the same tenant, these options default to the values of that run: `sink`, `tenant`,
 * `threadId`, `user`, `session`, `tags`, `metadata`, `approve`, `terminalToolErrors`, `onLoop`, `loops`, `isFailure`,
 * `price`, `onError` and `graceMs`. The budget of that run is shared. If that run is cancelled, this run is
 * cancelled, too.
 *
 * @typeParam I the agent's input.
 */
export interface RunOptions<I = unknown> extends RunSubject {
  /** Name of the agent: `gen_ai.agent.name`. */
  readonly agent: string;
  /** Receives the events. Required outside another run. */
  readonly sink?: AgentEventSink | undefined;
  /** The tenant of the run. Required outside another run. */
  readonly tenant?: string | undefined;
  /** The conversation (`gen_ai.conversation.id`). Default: none. */
  readonly threadId?: string | undefined;
  /**
   * Content: the agent's input, available as `run.input`. `started` has it as `details.input`. If content is
   * captured, the run's span has it as messages. Any JSON is allowed: a text becomes a message of the user, messages
   * are unchanged (see `toMessages`), and other values are shown as JSON.
   */
  readonly input?: I | undefined;
  /**
   * Budget of this run together with its sub-agents. Their usage also counts in the parent run. Default: no limits.
   */
  readonly budget?: BudgetLimits | undefined;
  /** Time in ms after which the run ends `deadline_exceeded`. Default: none. */
  readonly deadlineMs?: number | undefined;
  /** Cancels the run. It ends `cancelled`, or `deadline_exceeded` if the abort reason is a timeout. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each tool call. Default: all calls are allowed. */
  readonly approve?: Approve | undefined;
  /** Tool errors that end the run. Default: none. The agent's function handles them. */
  readonly terminalToolErrors?: TerminalToolErrors | undefined;
  /**
   * Reaction to a loop of the run's own tool calls. `"end"`: the run ends `usage_limit_exceeded` with the axis
   * `tool_loop`, after the call that completes the loop. `"continue"`: the bridge reports the loop, and the run
   * continues. Default `"continue"`.
   */
  readonly onLoop?: "continue" | "end" | undefined;
  /** Defines a loop for `onLoop: "end"`. Use the same value for the `Bridge`. Default: see {@link LoopOptions}. */
  readonly loops?: LoopOptions | undefined;
  /**
   * Decides which tool results are failures. A failure is sent as `tool_error` with the wire code
   * `tool_result_error`. The caller gets the result, and the run continues. Default: results of MCP tools with
   * `isError: true`, and LangChain's `ToolMessage` with `status: "error"`.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Returns the price of a model call. It is sent with the call's end and counts against the budget. Default: the
   * cost is only known from `addCost`.
   */
  readonly price?: Price | undefined;
  /** ID of the interrupted run that this run resumes. */
  readonly resumedFromRunId?: string | undefined;
  /** Default: a UUID v7. */
  readonly runId?: string | undefined;
  /** The parent run in another process, from `extract`. `null`: no parent, even inside another run. */
  readonly parent?: RunContext | null | undefined;
  /**
   * Called with errors that do not end the run: errors of the sink, wrong answers of your functions, and invalid
   * usage values. Default: a process warning, once for each text.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** How long a pausing run waits for open calls, and a failed run for its sink, in ms. Default 5,000. */
  readonly graceMs?: number | undefined;
}

/** The options with all defaults, including those of the surrounding run. */
export interface RunPlan<I> extends RunRef {
  readonly agent: string;
  readonly sink: AgentEventSink;
  readonly parent: RunContext | undefined;
  /** Whether it was started by code of its parent, in this process. */
  readonly isInside: boolean;
  /** The parent's step that started it. */
  readonly parentStepId: string | undefined;
  /** The key of the parent's call that started it, if that call has one. */
  readonly parentCallKey: string | undefined;
  readonly threadId: string | undefined;
  readonly subject: SubjectFields;
  readonly input: I;
  readonly deadlineMs: number | undefined;
  /** Signals that abort the run. */
  readonly signals: readonly AbortSignal[];
  readonly policy: Omit<RunPolicy, "signal">;
}

/** @throws TypeError or RangeError for a missing or invalid option. */
export function planRun<I>(given: RunOptions<I>): RunPlan<I | undefined> {
  const options = checkEach<RunOptions<I>>(given, CHECKS);
  const here = activeRun();
  const tenantId = text(options.tenant ?? here?.tenantId, "tenant");
  // A run of another tenant is not a child, because a trace, thread or budget belongs to one tenant.
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
    parentCallKey: above?.callKey,
    threadId: optionalText(options.threadId, "threadId") ?? parent?.thread_id,
    subject: subjectFields(options, above?.subject),
    // In this process, it is known whether there is a surrounding call. Another process may not have sent it.
    parentToolUseId: above === undefined ? parent?.parent_tool_use_id : (above.toolUseId ?? null),
    traceparent: parent?.traceparent,
    tracestate: parent?.tracestate,
    resumedFromRunId: optionalText(options.resumedFromRunId, "resumedFromRunId"),
    input: options.input,
    deadlineMs: milliseconds(options.deadlineMs, "deadlineMs"),
    signals: [checkSignal(options.signal), inherited?.signal].filter((it) => it !== undefined),
    policy: {
      budget: budgetOf(options.budget, inherited?.budget),
      approve: options.approve ?? inherited?.approve,
      terminalToolErrors: options.terminalToolErrors ?? inherited?.terminalToolErrors,
      isFailure: options.isFailure ?? inherited?.isFailure,
      price: options.price ?? inherited?.price,
      loops: loopsOf(options, inherited?.loops),
      onError: options.onError ?? inherited?.onError ?? sayOnce,
      graceMs: milliseconds(options.graceMs, "graceMs") ?? inherited?.graceMs ?? GRACE_MS,
    },
  };
}

function loopsOf(
  { loops, onLoop }: Pick<RunOptions, "loops" | "onLoop">,
  above: LoopLimits | undefined,
): LoopLimits | undefined {
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
  checkGiven(sink, "sink", "send");
  return sink;
}

function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || typeof signal?.addEventListener === "function") {
    return signal;
  }
  throw new TypeError(`signal: expected an AbortSignal, got ${describe(signal)}`);
}

function checkParent(given: RunContext | null | undefined): RunContext | undefined {
  if (given === null || given === undefined) return undefined;
  const parent = withoutAdded(given);
  text(parent.parent_run_id, "parent.parent_run_id");
  text(parent.root_run_id, "parent.root_run_id");
  const { parent_tool_use_id, traceparent, tracestate, thread_id } = parent;
  // The audit log would refuse other values, and a recording with them could not be read.
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

function checkTerminal(given: unknown, field: string): void {
  if (given === undefined || typeof given === "function" || Array.isArray(given)) return;
  throw new TypeError(`${field}: expected a list of kinds or a function, got ${describe(given)}`);
}

/** The other options are checked when the plan is made. */
const CHECKS: OptionChecks<RunOptions> = {
  tenant: (given) => void text(given ?? activeRun()?.tenantId, "tenant"),
  agent: (given) => void text(given, "agent"),
  sink: (given) => checkGiven(given ?? activeRun()?.sink, "sink", "send"),
  threadId: checkedElsewhere,
  user: checkedElsewhere,
  session: checkedElsewhere,
  tags: checkedElsewhere,
  metadata: checkedElsewhere,
  input: checkedElsewhere,
  budget: nested(BUDGET_CHECKS),
  deadlineMs: checkedElsewhere,
  signal: checkedElsewhere,
  approve: checkFunction,
  terminalToolErrors: checkTerminal,
  onLoop: among("continue", "end"),
  loops: nested(LOOP_CHECKS),
  isFailure: checkFunction,
  price: checkFunction,
  resumedFromRunId: checkedElsewhere,
  runId: checkedElsewhere,
  parent: checkedElsewhere,
  onError: checkFunction,
  graceMs: checkedElsewhere,
};
