import type { AgentError } from "../../events/door.ts";
import type { SafeSink } from "../core/door.ts";
import type { ActiveRun, SubjectFields } from "../runtime/door.ts";
import type { ClaudeAgentOptions, KnownLimits } from "./options.ts";
import type { Totals } from "./usage-difference.ts";

/** The last run of a session, for the run that continues it. */
export interface SessionRun {
  /** While it is open or paused. A run that has ended is not resumed: the next one is a new run of the conversation. */
  readonly runId: string | undefined;
  /** A run that continues it has the same subject, unless the hook gives another one. */
  readonly subject: SubjectFields | undefined;
}

/** Options and data of a followed query. */
export interface SessionStart {
  readonly sink: SafeSink;
  readonly options: ClaudeAgentOptions;
  readonly limits: KnownLimits;
  readonly tenantId: string;
  /** The surrounding run of this package, if it has the same tenant. */
  readonly above: ActiveRun | undefined;
  readonly agent: string;
  readonly model: string | undefined;
  /** Content. */
  readonly instructions: unknown;
  /** The conversation, if it is known before the process reports it. */
  readonly sessionId: string | undefined;
  /** The run that the first run continues, and the subject of its runs. Called once. */
  readonly continued: (sessionId: string | undefined) => SessionRun;
  /** The totals of the conversation before this query. `undefined`: not known yet. */
  readonly before: Totals | undefined;
  readonly maxTurns: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** The error of the abort controller, if it fired. */
  readonly abortError: () => AgentError | undefined;
  readonly onError: (error: unknown) => void;
  readonly onForgotten: () => void;
  /** Called with the latest run of a session, and when it has ended without a pause. */
  readonly onRun: (sessionId: string, run: SessionRun) => void;
  /** Called with the totals of a session after each prompt. */
  readonly onTotals: (sessionId: string, totals: Totals) => void;
  /** The last totals of a session in this process. */
  readonly totalsOf: (sessionId: string) => Totals | undefined;
  readonly onEnd: () => void;
}
