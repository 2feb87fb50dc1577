import { handed } from "../../events/door.ts";
import { beginRun, RunWriter, tenantOf } from "../core/door.ts";
import { activeRun } from "../runtime/door.ts";
import type { CallScope } from "./client-call.ts";
import type { LoneCall, McpClientOptions } from "./client-options.ts";
import type { Reporter } from "./reporter.ts";

/** Finds the run of a call: that of the calling code, or a new one for the call alone. */
export class CallScopes {
  readonly #options: McpClientOptions;
  readonly #reporter: Reporter;

  constructor(options: McpClientOptions, reporter: Reporter) {
    this.#options = options;
    this.#reporter = reporter;
  }

  /** @returns `undefined` for a call that is not reported. It is counted. */
  of(call: LoneCall): CallScope | undefined {
    const { counts } = this.#reporter;
    const run = activeRun();
    if (run === undefined) return this.#lone(call);
    const sink = this.#reporter.sinkOf(run.sink);
    const scope = { run, sink, writer: new RunWriter(sink, run, { others: true }) };
    const { toolUseId } = run;
    if (toolUseId === undefined || !isSameTool(run.tool, call.tool)) {
      counts.reported += 1;
      return { kind: "run", ...scope };
    }
    counts.shownElsewhere += 1;
    return { kind: "shown", toolUseId, ...scope };
  }

  #lone(call: LoneCall): CallScope | undefined {
    const { agent = call.tool, loneCalls, sink, tenant } = this.#options;
    const { counts, report } = this.#reporter;
    if (loneCalls === "skip" || sink === undefined || tenant === undefined) {
      counts.skipped += 1;
      return undefined;
    }
    const tenantId = tenantOf(tenant, call, (error) => {
      counts.refused += 1;
      report(error);
    });
    if (tenantId === undefined) return undefined;
    counts.reported += 1;
    const { context } = this.#options;
    const ask = context === undefined ? undefined : () => context(handed(call));
    const safe = this.#reporter.sinkOf(sink);
    const { active: run, writer } = beginRun({ tenantId, ask }, safe, report);
    writer.started({ agent });
    return { kind: "lone", run, sink: safe, writer };
  }
}

/**
 * Whether a framework's open tool call is this MCP call: its name is the MCP tool's, with or without the server's
 * name before it (`weather__forecast`, `mcp_weather_forecast`). Frameworks replace characters that model APIs refuse.
 *
 * @param open name of the open call, if its adapter reports it.
 */
export function isSameTool(open: string | undefined, tool: string): boolean {
  if (open === undefined || tool === "") return false;
  const name = plain(tool);
  const around = plain(open);
  return around === name || around.endsWith(`_${name}`);
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, "_");
}
