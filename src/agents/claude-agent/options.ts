import {
  checkOneOf,
  checkOptionsObject,
  checkText,
  checkWhole,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkCommonOptions } from "../core/common-options.ts";
import type { DecidedBy } from "../core/decided-by.ts";
import type { Price } from "../runtime/price.ts";
import type { RunSubject } from "../runtime/run-subject.ts";

/** What the functions among the options get: data of yours, given with the call of `query`. */
export type QueryMetadata = Readonly<Record<string, unknown>>;

/** Where the events go, and whose they are. */
export interface ClaudeAgentOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A string applies to every query without `tenant_id` in its metadata, except
   * inside a run of this package, whose tenant it then has. A function is called once for each query,
   * and only its result counts. If it throws or returns anything but a non-empty string, no event of
   * that query is sent (`counts.refused`).
   */
  readonly tenant: string | ((metadata: QueryMetadata) => string);
  /** Name of the agent (`gen_ai.agent.name`). Default: `options.agent` of the query, else `claude`. */
  readonly agent?: string | undefined;
  /**
   * Whose runs those of a query are, from its metadata: personal data, so only what this returns is
   * sent. Called once for each query. If it throws, or returns an invalid subject, `onError` is
   * called, and nothing is sent of it. Default: nothing, or what the run of this package around the
   * query says.
   *
   * @example
   * context: ({ user }) => ({ user: String(user) })
   */
  readonly context?: ((metadata: QueryMetadata) => RunSubject | undefined) | undefined;
  /**
   * Which results of tools are failures. It gets `{ content, isError, output }`: the content as the model
   * receives it, whether the SDK says that the call failed, and the tool's own output where the SDK has
   * it. Default: those with `isError`. The call is then a `tool_error` with the wire code
   * `tool_result_error`, and the run continues.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Gives the price of what a prompt used of one model, in US dollars. Default: the estimate of the SDK,
   * which the first result of a resumed or forked session does not have.
   */
  readonly price?: Price | undefined;
  /**
   * Names the person who decided in `canUseTool`. It gets the metadata of the query. Default: the
   * person is not named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /**
   * Who decides in `canUseTool`: a person (`user`), or a rule of your code (`policy`). Rules and hooks of
   * the SDK are always `policy`. Default `user`.
   */
  readonly permissionsBy?: "user" | "policy" | undefined;
  /** Called with errors of the sink and of the adapter. Default: none. Both are counted. */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly limits?: ClaudeAgentLimits | undefined;
}

/** Limits of the memory. `counts` counts each time that one applies. */
export interface ClaudeAgentLimits {
  /** Open tool calls of one query. Above it, the oldest is cancelled. Default 10,000. */
  readonly openCalls?: number | undefined;
  /** Open sub-agents of one query. Above it, the oldest is cancelled. Default 1,000. */
  readonly openAgents?: number | undefined;
  /**
   * Minimum number of sessions whose last run is remembered, to link their resumption. The maximum is
   * twice as many. Default 10,000.
   */
  readonly sessions?: number | undefined;
}

/** Details of a query that the SDK's parameters do not have. */
export interface QueryDetails {
  /** Passed to the functions among the options. The adapter does not send it. */
  readonly metadata?: QueryMetadata | undefined;
  /**
   * The run that this query resumes, where another process had it: the value of `lastRunOf` there.
   * Default: the last run of `options.resume` in this process.
   */
  readonly resumedFromRunId?: string | undefined;
}

/** Counts of what was not sent as events. */
export interface ClaudeAgentCounts {
  /** Queries without a known tenant. */
  readonly refused: number;
  /** Tool calls and sub-agents that were cancelled because of a limit. */
  readonly forgotten: number;
  /** Sessions whose last run was forgotten because of `limits.sessions`. */
  readonly sessionsForgotten: number;
  /** Messages and hook calls that the adapter could not read, and errors of functions among the options. */
  readonly troubles: number;
  /** Events that the sink did not take. */
  readonly sinkFailures: number;
}

/** The limits, with their defaults. */
export interface KnownLimits {
  readonly openCalls: number;
  readonly openAgents: number;
  readonly sessions: number;
}

/** @throws TypeError, RangeError when an option is of another type, or out of its range. */
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
