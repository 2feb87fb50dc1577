import {
  checkOneOf,
  checkOptionsObject,
  checkText,
  checkWhole,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkCommonOptions, type DecidedBy } from "../core/door.ts";
import type { Price, RunSubject } from "../runtime/door.ts";

/** Your data for the functions in the options, passed to `query`. */
export type QueryMetadata = Readonly<Record<string, unknown>>;

/** Options of `claudeAgent`. */
export interface ClaudeAgentOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
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
   * The subject of a query's runs, from its metadata: personal data, so only the result of this function is sent.
   * Called once for each query. If it throws or returns an invalid subject, `onError` is called. Default: the
   * subject of the surrounding run of this package, else of the last run of a resumed session in this process.
   *
   * @example
   * context: ({ user }) => ({ user: String(user) })
   */
  readonly context?: ((metadata: QueryMetadata) => RunSubject | undefined) | undefined;
  /**
   * Decides which tool results are failures. It gets `{ content, isError, output }`: the content for the model,
   * whether the SDK marks it as an error, and the tool's own output if the SDK has it. A failure is sent as
   * `tool_error` with the wire code `tool_result_error`, and the run continues. Default: results with `isError`.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Returns the price of a prompt's usage of one model, in US dollars. Default: the SDK's estimate. The first result
   * of a resumed or forked session has no estimate.
   */
  readonly price?: Price | undefined;
  /** Names the person who decided in `canUseTool`. It gets the metadata of the query. Default: no person is named. */
  readonly decidedBy?: DecidedBy | undefined;
  /**
   * Who decides in `canUseTool`: a person (`user`) or a rule of your code (`policy`). Rules and hooks of the SDK
   * always count as `policy`. Default `user`.
   */
  readonly permissionsBy?: "user" | "policy" | undefined;
  /** Called with errors of the sink and of the adapter. Both are also counted. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
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
   * The run that this query resumes, if another process ran it: the value of `lastRunOf` in that process. Default:
   * the last run of `options.resume` in this process.
   */
  readonly resumedFromRunId?: string | undefined;
}

/** Counts of data that the adapter did not send as events. */
export interface ClaudeAgentCounts {
  /** Queries without a known tenant. */
  readonly refused: number;
  /** Tool calls and sub-agents cancelled because of a limit. */
  readonly forgotten: number;
  /** Sessions whose last run was forgotten because of `limits.sessions`. */
  readonly sessionsForgotten: number;
  /** Messages and hook calls that the adapter could not read, and errors of functions in the options. */
  readonly troubles: number;
  /** Events that the sink refused. */
  readonly sinkFailures: number;
}

/** The limits, with their defaults. */
export interface KnownLimits {
  readonly openCalls: number;
  readonly openAgents: number;
  readonly sessions: number;
}

/**
 * @throws TypeError when an option has the wrong type.
 * @throws RangeError when a limit is out of range.
 */
export function checkClaudeAgentOptions(options: ClaudeAgentOptions): KnownLimits {
  checkCommonOptions(options);
  const { limits = {} } = options;
  checkText(options.agent, "agent");
  checkOneOf(options.permissionsBy, "permissionsBy", ["user", "policy"]);
  checkOptionsObject(limits);
  const { openAgents = 1_000, openCalls = 10_000, sessions = 10_000 } = limits;
  checkWhole(openAgents, "limits.openAgents", 1);
  checkWhole(openCalls, "limits.openCalls", 1);
  checkWhole(sessions, "limits.sessions", 1);
  return { openAgents, openCalls, sessions };
}
