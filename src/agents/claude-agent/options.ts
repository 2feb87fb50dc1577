import {
  among,
  checkEach,
  checkText,
  type IsFailure,
  nested,
  type OptionChecks,
  wholeFrom,
} from "../../events/door.ts";
import { ADAPTER_CHECKS, type AdapterCounts, type AdapterOptions } from "../core/door.ts";
import type { Price } from "../runtime/door.ts";

/** Your data for the functions in the options, passed to `query`. */
export type QueryMetadata = Readonly<Record<string, unknown>>;

/** Options of `claudeAgent`. */
export interface ClaudeAgentOptions extends AdapterOptions<QueryMetadata> {
  /**
   * The tenant of the runs. A string applies to every query, unless its metadata has `tenant_id` or it is inside a
   * run of this package, whose tenant applies then. A function is called once for each query, and only its result
   * counts. If it throws or returns anything but a non-empty string, no event of that query is sent
   * (`counts.refused`).
   */
  readonly tenant: string | ((metadata: QueryMetadata) => string);
  /** Name of the agent (`gen_ai.agent.name`). Default: `options.agent` of the query, else `claude`. */
  readonly agent?: string | undefined;
  /**
   * Decides which tool results are failures. It gets `{ content, isError, output }`: the content for the model,
   * whether the SDK marks it as an error, and the tool's own output if the SDK has it. A failure is sent as
   * `tool_error` with the wire code `tool_result_error`, and the run continues. Default: results with `isError`.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Returns the price of a prompt's usage of one model, in US dollars. Default: the SDK's estimate. The first result
   * of a session that another process began has no estimate.
   */
  readonly price?: Price | undefined;
  /**
   * Who decides in `canUseTool`: a person (`user`) or a rule of your code (`policy`). Rules and hooks of the SDK
   * always count as `policy`. Default `user`.
   */
  readonly permissionsBy?: "user" | "policy" | undefined;
  readonly limits?: ClaudeAgentLimits | undefined;
}

/** Limits for memory. `counts` shows how often each limit applied. */
export interface ClaudeAgentLimits {
  /** Maximum number of open tool calls of a run. Above it, the oldest is cancelled. Default 10,000. */
  readonly openCalls?: number | undefined;
  /** Maximum number of open sub-agents of a query. Above it, the oldest is cancelled. Default 1,000. */
  readonly openAgents?: number | undefined;
  /**
   * Minimum number of sessions whose last run is remembered, to link their resumption. The maximum is twice as many.
   * Default 10,000.
   */
  readonly sessions?: number | undefined;
}

/** Data of a query that the SDK's parameters do not have. */
export interface QueryDetails {
  /** Passed to the functions in the options. The adapter does not send it. */
  readonly metadata?: QueryMetadata | undefined;
  /**
   * The paused run that this query resumes, if another process ran it: the value of `lastRunOf` in that process.
   * Default: the last run of `options.resume` in this process, unless it has ended.
   */
  readonly resumedFromRunId?: string | undefined;
}

/** Counts of data that the adapter did not send as events. */
export interface ClaudeAgentCounts extends AdapterCounts {
  /** Queries without a known tenant. */
  readonly refused: number;
  /** Tool calls and sub-agents cancelled because of a limit. */
  readonly forgotten: number;
  /** Sessions whose last run was forgotten because of `limits.sessions`. */
  readonly sessionsForgotten: number;
}

/** The limits, with their defaults. */
export interface KnownLimits {
  readonly openCalls: number;
  readonly openAgents: number;
  readonly sessions: number;
}

/** @throws TypeError or RangeError when an option is invalid. */
export function checkClaudeAgentOptions(given: ClaudeAgentOptions): {
  readonly options: ClaudeAgentOptions;
  readonly limits: KnownLimits;
} {
  const options = checkEach(given, CHECKS);
  const { limits = {} } = options;
  const { openAgents = 1_000, openCalls = 10_000, sessions = 10_000 } = limits;
  return { options, limits: { openAgents, openCalls, sessions } };
}

const LIMITS: OptionChecks<ClaudeAgentLimits> = {
  openCalls: wholeFrom(1),
  openAgents: wholeFrom(1),
  sessions: wholeFrom(1),
};
const CHECKS: OptionChecks<ClaudeAgentOptions> = {
  ...ADAPTER_CHECKS,
  agent: checkText,
  permissionsBy: among("user", "policy"),
  limits: nested(LIMITS),
};
