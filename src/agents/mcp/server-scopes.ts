import { answerOf, handed, type McpDetails, yesOrNo } from "../../events/door.ts";
import { beginRun, tenantOf } from "../core/door.ts";
import { contextIn } from "./meta.ts";
import type { Reporter } from "./reporter.ts";
import type { ServerScope } from "./server-call.ts";
import type { McpCaller, McpServerOptions } from "./server-options.ts";

/** Starts a run for each call of a server. A trusted caller sets its parent context. */
export class ServerScopes {
  readonly #options: McpServerOptions;
  readonly #agent: string;
  readonly #reporter: Reporter;

  constructor(options: McpServerOptions, agent: string, reporter: Reporter) {
    this.#options = options;
    this.#agent = agent;
    this.#reporter = reporter;
  }

  /** @returns `undefined` for a call without a known tenant. It is counted. */
  start(caller: McpCaller, mcp: McpDetails): ServerScope | undefined {
    const { context, sink, tenant } = this.#options;
    const { counts, report } = this.#reporter;
    const tenantId = tenantOf(tenant, caller, (error) => {
      counts.refused += 1;
      report(error);
    });
    if (tenantId === undefined) return undefined;
    counts.reported += 1;
    const above = this.#isTrusted(caller) ? contextIn(caller.meta) : {};
    const ask = context === undefined ? undefined : () => context(handed(caller));
    const safe = this.#reporter.sinkOf(sink);
    const outer = { rootRunId: above.root_run_id, threadId: above.thread_id };
    const { active: run, writer } = beginRun({ tenantId, outer, ask }, safe, report);
    writer.started({
      agent: this.#agent,
      parentRunId: above.parent_run_id,
      parentToolUseId: above.parent_tool_use_id,
      traceparent: above.traceparent,
      tracestate: above.tracestate,
      details: { mcp },
    });
    return { run, sink: safe, writer };
  }

  #isTrusted(caller: McpCaller): boolean {
    const { trust = false } = this.#options;
    if (typeof trust === "boolean") return trust;
    return answerOf(TRUST, () => trust(handed(caller)), this.#reporter.report) === true;
  }
}

const TRUST = yesOrNo("trust");
