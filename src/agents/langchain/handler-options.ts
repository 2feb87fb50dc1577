import {
  among,
  checkEach,
  checkText,
  nested,
  type OptionChecks,
  wholeFrom,
} from "../../events/door.ts";
import {
  ADAPTER_CHECKS,
  type AdapterCounts,
  type AdapterOptions,
  askedTenant,
  checkPausedRuns,
  type Fields,
  type PausedRuns,
  textOf,
} from "../core/door.ts";
import type { RunSubject } from "../runtime/door.ts";

/** Limits for the memory of a handler. `counts` shows how often each limit applied. */
export interface HandlerLimits {
  /**
   * Maximum number of open LangChain calls. Above it, the oldest is evicted. The first handler of a sink sets it.
   * Default 100,000.
   */
  readonly openCalls?: number | undefined;
  /**
   * Minimum number of paused threads that are remembered, to link their resumption. The maximum is twice as many. The
   * first handler of a sink sets it. Default 10,000.
   */
  readonly pausedThreads?: number | undefined;
}

/** Options of {@link LangChainHandler}. */
export interface LangChainHandlerOptions extends Omit<AdapterOptions<Fields>, "context"> {
  /**
   * The tenant of the runs. A string applies to every invocation without `tenant_id` in its metadata. A function is
   * called once for each outermost invocation, and only its result counts. If it throws or returns anything but a
   * non-empty string, no event of that invocation is sent (`counts.refused`).
   */
  readonly tenant: string | ((metadata: Readonly<Record<string, unknown>>) => string);
  /**
   * Name of the agent (`gen_ai.agent.name`) for the outermost runs. Default: `metadata.lc_agent_name`, which
   * `createAgent` sets, else the `runName` or the name of the graph.
   */
  readonly agent?: string | undefined;
  /**
   * The subject of an invocation's runs, from its `metadata` and `tags`: personal data, so only the result of this
   * function is sent. Called once for each outermost invocation. Child runs inherit the subject. If it throws or
   * returns an invalid subject, `onError` is called and no subject is sent. Default: the subject of the surrounding
   * run of `entelix-otel/runtime`, if any.
   *
   * @example
   * context: ({ user_id }, tags) => ({ user: String(user_id), tags })
   */
  readonly context?:
    | ((
        metadata: Readonly<Record<string, unknown>>,
        tags: readonly string[],
      ) => RunSubject | undefined)
    | undefined;
  /**
   * Stores paused graphs by their threads, with and without the tenant. A graph that another process resumes is then
   * linked to its pause, and has its tenant and subject unless the other options or the metadata give others. It is
   * read at the start of each outermost graph with a thread. Default: in memory, see `limits.pausedThreads`.
   */
  readonly pausedRuns?: PausedRuns | undefined;
  /**
   * Handling of a model, tool or retriever that is called outside a chain, graph or run. `run`: the call gets a run
   * with its name. `skip`: nothing is sent. Default `run`.
   */
  readonly loneCalls?: "run" | "skip" | undefined;
  readonly limits?: HandlerLimits | undefined;
}

/** Counts of callbacks that a handler did not send as events. */
export interface HandlerCounts extends AdapterCounts {
  /** Repeated starts: the handler, or another one with the same sink, is registered twice. */
  readonly duplicates: number;
  /** Ends without a start: repeated, evicted, or skipped. */
  readonly unmatched: number;
  /** Ends of calls after the end of their run. */
  readonly late: number;
  /** Open calls that were evicted because of `limits.openCalls`. */
  readonly forgotten: number;
  /** Pauses that were evicted because of `limits.pausedThreads`. */
  readonly threadsForgotten: number;
  /** Outermost invocations without a known tenant. */
  readonly refused: number;
  /** Models, tools and retrievers called alone, with `loneCalls: "skip"`. */
  readonly skipped: number;
  /** Tool calls that were already reported by another instrumentation. */
  readonly shownElsewhere: number;
}

export const DEFAULT_OPEN_CALLS = 100_000;

/** @throws TypeError or RangeError when an option is invalid. */
export function checkHandlerOptions(options: LangChainHandlerOptions): LangChainHandlerOptions {
  return checkEach(options, CHECKS);
}

const LIMITS: OptionChecks<HandlerLimits> = {
  openCalls: wholeFrom(1),
  pausedThreads: wholeFrom(1),
};
const CHECKS: OptionChecks<LangChainHandlerOptions> = {
  ...ADAPTER_CHECKS,
  agent: checkText,
  pausedRuns: checkPausedRuns,
  loneCalls: among("run", "skip"),
  limits: nested(LIMITS),
};

/** Resolves the tenant of an invocation. */
export class Tenants {
  readonly #given: LangChainHandlerOptions["tenant"];

  constructor(given: LangChainHandlerOptions["tenant"]) {
    this.#given = given;
  }

  /** The tenant in the metadata, if the option `tenant` is a string. */
  explicit(metadata: Fields | undefined): string | undefined {
    return typeof this.#given === "string" ? textOf(metadata?.tenant_id) : undefined;
  }

  of(metadata: Fields | undefined): InvocationTenant {
    const tenant = this.#given;
    if (typeof tenant === "string") return { given: this.explicit(metadata), otherwise: tenant };
    const { problem, tenantId: given } = askedTenant(tenant, metadata ?? {});
    return { given, problem };
  }
}

/** The tenant of an outermost invocation, before the tenant of the run that it resumes is known. */
export interface InvocationTenant {
  readonly given: string | undefined;
  /** If there is none of a paused run either. */
  readonly otherwise?: string;
  /** Why there is none. */
  readonly problem?: unknown;
}
