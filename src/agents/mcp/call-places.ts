import { v7 as uuidv7 } from "uuid";
import { knownTenant } from "../core/common-options.ts";
import { RunWriter } from "../core/run-writer.ts";
import { askedSubject } from "../core/subject-hook.ts";
import { type ActiveRun, activeRun } from "../runtime/active-run.ts";
import type { CallPlace } from "./client-call.ts";
import type { LoneCall, McpClientOptions } from "./client-options.ts";
import type { Reporter } from "./reporter.ts";
import { isSameTool } from "./tool-name.ts";

/** Finds out where a call stands: in the run of the calling code, or alone. */
export class CallPlaces {
  readonly #options: McpClientOptions;
  readonly #reporter: Reporter;

  constructor(options: McpClientOptions, reporter: Reporter) {
    this.#options = options;
    this.#reporter = reporter;
  }

  /** @returns `undefined` for a call that is not reported; it is counted. */
  of(call: LoneCall): CallPlace | undefined {
    const { counts } = this.#reporter;
    const run = activeRun();
    if (run === undefined) return this.#lone(call);
    const place = this.#inRun(run);
    if (run.toolUseId === undefined || !isSameTool(run.tool, call.tool)) {
      counts.reported += 1;
      return { kind: "run", ...place };
    }
    counts.shownElsewhere += 1;
    return { kind: "shown", ...place };
  }

  #inRun(run: ActiveRun) {
    const sink = this.#reporter.sinkOf(run.sink);
    return { run, sink, writer: new RunWriter(sink, run, true) };
  }

  #lone(call: LoneCall): CallPlace | undefined {
    const { agent = call.tool, loneCalls, sink, tenant } = this.#options;
    const { counts, troubled } = this.#reporter;
    if (loneCalls === "skip" || sink === undefined || tenant === undefined) {
      counts.skipped += 1;
      return undefined;
    }
    const tenantId = knownTenant(tenant, call, (error) => {
      counts.refused += 1;
      troubled(error);
    });
    if (tenantId === undefined) return undefined;
    counts.reported += 1;
    const ask = this.#options.context;
    const subject = askedSubject(
      ask === undefined ? undefined : () => ask(call),
      undefined,
      troubled,
    );
    const runId = uuidv7();
    const run: ActiveRun = { tenantId, runId, rootRunId: runId, subject, sink };
    const safe = this.#reporter.sinkOf(sink);
    const writer = new RunWriter(safe, run);
    writer.started({ agent });
    return { kind: "lone", run, sink: safe, writer };
  }
}
