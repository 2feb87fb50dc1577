import { randomUUID } from "node:crypto";
import {
  checkArgument,
  checkGivenFunction,
  handed,
  property,
  RecentMap,
  tenantKey,
} from "../../events/door.ts";
import { askedSubject, Fence, type Fields, fieldsOf, tenantOf, textOf } from "../core/door.ts";
import { type ActiveRun, abortError, activeRun, inToolCall } from "../runtime/door.ts";
import { FollowedQuery } from "./followed-query.ts";
import { isCallback, mergedHooks, watchedCanUseTool } from "./merged-options.ts";
import {
  type ClaudeAgentCounts,
  type ClaudeAgentOptions,
  checkClaudeAgentOptions,
  type KnownLimits,
  type QueryDetails,
  type QueryMetadata,
} from "./options.ts";
import { addEnvironment, contextOf } from "./process-context.ts";
import { type SdkQuery, TOOL_USE_META } from "./sdk.ts";
import { Session } from "./session.ts";
import type { SessionRun } from "./session-start.ts";
import type { OpenTool } from "./tool-calls.ts";
import { amountOf, NO_TOTALS, type Totals } from "./usage-difference.ts";

/** Data of a session that a later query continues. */
interface KnownSession extends Partial<SessionRun> {
  readonly totals?: Totals;
}

/**
 * Follows queries of the Claude Agent SDK. It sends their runs, tool calls, model calls and decisions to a sink. It
 * does not import the SDK, and its errors never reach the SDK.
 */
export class ClaudeAgent {
  readonly #options: ClaudeAgentOptions;
  readonly #limits: KnownLimits;
  readonly #fence: Fence;
  readonly #known: RecentMap<KnownSession>;
  readonly #sessions = new Set<Session>();
  #refused = 0;
  #forgotten = 0;
  #sessionsForgotten = 0;

  constructor(given: ClaudeAgentOptions) {
    const { limits, options } = checkClaudeAgentOptions(given);
    this.#limits = limits;
    this.#options = options;
    this.#fence = new Fence(options.sink, options.onError);
    this.#known = new RecentMap(this.#limits.sessions);
  }

  /**
   * Calls the SDK's `query()` and follows the query. Your hooks and `canUseTool` are called as usual. The result has
   * all methods of the SDK's query, and its stream has the same messages and errors. Your objects are not changed.
   *
   * @param query the SDK's `query`.
   * @param params its parameters.
   * @returns what `query` returns.
   * @throws what `query` throws.
   *
   * @example
   * for await (const message of agent.query(query, { prompt: "Where is order 17?" })) show(message);
   */
  query<P extends object, Q extends SdkQuery>(
    query: (params: P) => Q,
    // The intersection makes TypeScript infer `P` from `query` alone.
    params: P & {},
    details: QueryDetails = {},
  ): Q {
    checkGivenFunction(query, "query");
    const merged = this.#fence.contain(() => this.#merge(fieldsOf(params) ?? {}, details));
    if (merged === undefined) return Reflect.apply(query, undefined, [params]);
    const { session } = merged;
    let inner: Q;
    try {
      inner = Reflect.apply(query, undefined, [merged.params]);
      checkArgument(inner, "result of query");
    } catch (thrown) {
      this.#fence.contain(() => session.ended(thrown, false));
      this.#sessions.delete(session);
      throw thrown;
    }
    return this.#followed(inner, session);
  }

  /**
   * Makes the handler of an in-process tool (`tool()` of the SDK) run inside the span of its call. HTTP and database
   * spans become children of that span. Runs that the handler starts become child runs.
   *
   * @returns a handler with the same parameters and result.
   *
   * @example
   * tool("lookup", "Looks an order up", { id: z.string() }, agent.inSpan(lookUp));
   */
  inSpan<A extends readonly unknown[], R>(handler: (...args: A) => R): (...args: A) => R {
    return (...args) => {
      const call = this.#fence.contain(() => this.#callOf(args[1], args[0]));
      const work = () => handler(...args);
      if (call === undefined) return work();
      const { sink } = this.#options;
      return inToolCall({ ...call.run.writer.run, sink }, call, work);
    };
  }

  /**
   * The run that the next query of a session resumes. Store it with the session ID, and pass it as `resumedFromRunId`
   * when another process resumes the session.
   *
   * @param tenant of the run.
   * @returns the session's last run if it is paused or open. `undefined` if it has ended, or if the session is not known
   * in this process.
   */
  lastRunOf(tenant: string, sessionId: string): string | undefined {
    return this.#knownOf(tenant, sessionId)?.runId;
  }

  get counts(): ClaudeAgentCounts {
    return {
      refused: this.#refused,
      forgotten: this.#forgotten,
      sessionsForgotten: this.#sessionsForgotten,
      ...this.#fence.counts,
    };
  }

  /**
   * Resolves when the sink has accepted or refused all events and was flushed. Errors of the sink go to `onError`.
   * Never rejects.
   */
  flush(): Promise<void> {
    return this.#fence.flush();
  }

  /** Adds our hooks to the parameters and creates their session. `undefined` without a tenant. */
  #merge(params: Fields, details: QueryDetails) {
    const given = fieldsOf(params.options) ?? {};
    const metadata = details.metadata ?? {};
    const active = activeRun();
    const tenantId = this.#tenantOf(metadata, active);
    if (tenantId === undefined) return undefined;
    const above = active?.tenantId === tenantId ? active : undefined;
    const prompt = textOf(params.prompt);
    const own = prompt === undefined ? undefined : newSessionId(given);
    const session = this.#session(given, details, { tenantId, above, own });
    const reports = {
      session,
      options: this.#options,
      metadata,
      fence: this.#fence,
    };
    // If the conversation is not known, the run starts later, when the process reports it.
    const begins = prompt !== undefined && session.hasConversation;
    const run = begins ? session.begin(prompt) : undefined;
    const context = contextOf(this.#options.sink, run?.ref, above);
    const { canUseTool } = given;
    const options = {
      ...given,
      hooks: mergedHooks(given.hooks, reports),
      ...(isCallback(canUseTool) ? { canUseTool: watchedCanUseTool(canUseTool, reports) } : {}),
      ...(own === undefined ? {} : { sessionId: own }),
    };
    if (context !== undefined) addEnvironment(options, context);
    return { session, params: { ...params, options } };
  }

  #session(
    given: Fields,
    details: QueryDetails,
    known: {
      readonly tenantId: string;
      readonly above: ActiveRun | undefined;
      readonly own: string | undefined;
    },
  ): Session {
    const { above, own, tenantId } = known;
    const { context } = this.#options;
    const ask = context === undefined ? undefined : () => context(handed(details.metadata ?? {}));
    const onError = this.#fence.report;
    const resumed = textOf(given.resume);
    const isFork = given.forkSession === true;
    const signal: unknown = fieldsOf(given.abortController)?.signal;
    const session = new Session({
      sink: this.#fence.sink,
      options: this.#options,
      limits: this.#limits,
      tenantId,
      above,
      agent: this.#options.agent ?? textOf(given.agent) ?? "claude",
      model: textOf(given.model),
      instructions: instructionsIn(given.systemPrompt),
      sessionId: own ?? textOf(given.sessionId) ?? (isFork ? undefined : resumed),
      continued: (sessionId) => {
        // With `continue`, only the process says which session it continues.
        const before = this.#knownOf(tenantId, resumed ?? sessionId);
        const inherited = above?.subject ?? before?.subject;
        return {
          runId: details.resumedFromRunId ?? before?.runId,
          subject: askedSubject(ask, inherited, onError, before !== undefined),
        };
      },
      before: continuesConversation(given) ? this.#totalsOf(tenantId, given) : NO_TOTALS,
      maxTurns: amountOf(given.maxTurns),
      maxBudgetUsd: amountOf(given.maxBudgetUsd),
      abortError: () =>
        signal instanceof AbortSignal && signal.aborted ? abortError(signal.reason) : undefined,
      onError,
      onForgotten: () => {
        this.#forgotten += 1;
      },
      onRun: (sessionId, run) => this.#remember(tenantId, sessionId, run),
      onTotals: (sessionId, totals) => this.#remember(tenantId, sessionId, { totals }),
      totalsOf: (resume) => this.#totalsOf(tenantId, { ...given, resume }),
      onEnd: () => void this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  #remember(tenantId: string, sessionId: string, more: KnownSession): void {
    const key = tenantKey(tenantId, sessionId);
    this.#sessionsForgotten += this.#known.set(key, { ...this.#known.get(key), ...more });
  }

  #knownOf(tenantId: string, sessionId: string | undefined): KnownSession | undefined {
    return sessionId === undefined ? undefined : this.#known.get(tenantKey(tenantId, sessionId));
  }

  /** The totals of the session that a query continues, unless it continues from an earlier message. */
  #totalsOf(tenantId: string, { resume, resumeSessionAt }: Fields): Totals | undefined {
    const sessionId = textOf(resume);
    if (sessionId === undefined || textOf(resumeSessionAt) !== undefined) return undefined;
    return this.#knownOf(tenantId, sessionId)?.totals;
  }

  /** The same object, with a followed stream. */
  #followed<Q extends SdkQuery>(inner: Q, session: Session): Q {
    const fence = this.#fence;
    const stream = new FollowedQuery(inner, session, fence);
    const own = {
      next: () => stream.next(),
      return: () => stream.return(),
      throw: (error: unknown) => stream.throw(error),
      interrupt: (...args: readonly unknown[]) => {
        fence.contain(() => session.interrupted());
        return applied(inner, "interrupt", args);
      },
      close: (...args: readonly unknown[]) => {
        stream.close();
        return applied(inner, "close", args);
      },
      [Symbol.asyncDispose]: (...args: readonly unknown[]) => {
        stream.close();
        return applied(inner, Symbol.asyncDispose, args);
      },
    };
    const followed: Q = new Proxy(inner, {
      get(target, name) {
        if (name === Symbol.asyncIterator) return () => followed;
        const value: unknown = Reflect.get(target, name, target);
        if (!isCallback(value)) return value;
        const ours: unknown = Object.hasOwn(own, name) ? Reflect.get(own, name) : undefined;
        return ours ?? value.bind(target);
      },
    });
    return followed;
  }

  /** The call of a tool's handler, from its second argument. */
  #callOf(extra: unknown, input: unknown): OpenTool | undefined {
    const toolUseId = textOf(property(property(extra, "_meta"), TOOL_USE_META));
    if (toolUseId === undefined) return undefined;
    const found = [...this.#sessions].flatMap(
      (session) => session.findCall(toolUseId, input) ?? [],
    );
    const [call] = found;
    // Two parallel queries may have calls with the same ID. The right one is not known then.
    if (call === undefined || found.length > 1) return undefined;
    call.run.started(call);
    return call;
  }

  #tenantOf(metadata: QueryMetadata, active: ActiveRun | undefined): string | undefined {
    const { tenant } = this.#options;
    if (typeof tenant === "string") return textOf(metadata.tenant_id) ?? active?.tenantId ?? tenant;
    return tenantOf(tenant, metadata, (error) => {
      this.#refused += 1;
      this.#fence.report(error);
    });
  }
}

/**
 * Creates the adapter for the Claude Agent SDK. One for each process is enough.
 *
 * @throws TypeError when `sink` or `tenant` is missing, or an option has the wrong type.
 * @throws RangeError when a limit is out of range.
 *
 * @example
 * import { query } from "@anthropic-ai/claude-agent-sdk";
 *
 * const agent = claudeAgent({ sink: bridge, tenant: "acme" });
 * for await (const message of agent.query(query, { prompt: "Where is order 17?" })) show(message);
 */
export function claudeAgent(options: ClaudeAgentOptions): ClaudeAgent {
  return new ClaudeAgent(options);
}

function applied(target: object, name: string | symbol, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(target, name);
  return isCallback(method) ? Reflect.apply(method, target, [...args]) : undefined;
}

/** Whether the query continues a conversation. The SDK then continues its totals. */
function continuesConversation(options: Fields): boolean {
  const extra = fieldsOf(options.extraArgs);
  const isResumed = textOf(options.resume) !== undefined || options.continue === true;
  return isResumed || (extra !== undefined && ("resume" in extra || "continue" in extra));
}

/** A new session ID, so that the first run has it. `undefined`: the conversation has one, or the SDK chooses it. */
function newSessionId(options: Fields): string | undefined {
  const extra = fieldsOf(options.extraArgs);
  const isNamed =
    textOf(options.sessionId) !== undefined || (extra !== undefined && "session-id" in extra);
  const isFork = textOf(options.resume) !== undefined && options.forkSession === true;
  return isNamed || (continuesConversation(options) && !isFork) ? undefined : randomUUID();
}

/** Content: the system prompt, if it is the application's own text. */
function instructionsIn(given: unknown): unknown {
  if (typeof given === "string" || Array.isArray(given)) return given;
  const fields = fieldsOf(given);
  return fields?.type === "custom" ? fields.prompt : undefined;
}
