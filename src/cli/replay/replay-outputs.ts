import type { NdjsonSessionLog } from "../../audit/ndjson/ndjson-session-log.ts";
import { OtlpEndpoint } from "../../otel/replay/otlp-endpoint.ts";
import type { SpanTarget } from "../../otel/replay/span-outlet.ts";
import { SpanLines } from "../../otel/replay/span-outlet.ts";
import { tracesUrl } from "../../otel/setup/endpoint.ts";
import type { Io } from "../command.ts";
import { httpUrl } from "../jaeger.ts";
import { openAuditLog } from "./audit-directory.ts";
import type { InputFile } from "./input-file.ts";
import { openOutput } from "./output-file.ts";
import { checkApart, type OutputPlan, planOutput } from "./output-plan.ts";
import { RejectsFile } from "./rejects-file.ts";

/** What the options say about where things go; each absent where the option is. */
export interface OutputOptions {
  readonly out?: string | undefined;
  readonly rejects?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly audit?: string | undefined;
}

/** Everything a replay writes to. */
export interface ReplayOutputs {
  readonly targets: readonly SpanTarget[];
  readonly lines: SpanLines | undefined;
  readonly sender: OtlpEndpoint | undefined;
  readonly rejects: RejectsFile | undefined;
  readonly log: NdjsonSessionLog | undefined;
}

/**
 * Checks all options, then opens what they name.
 *
 * @throws CliError naming the option that is wrong.
 */
export async function openOutputs(
  options: OutputOptions,
  inputs: readonly InputFile[],
  io: Io,
): Promise<ReplayOutputs> {
  const { audit, endpoint } = options;
  const plan = (option: string, name: string | undefined) =>
    name === undefined ? undefined : planOutput(option, name, { inputs, audit });
  const out = await plan("--out", options.out);
  const rejects = await plan("--rejects", options.rejects);
  if (out !== undefined && rejects !== undefined) checkApart(out, rejects);
  const url = endpoint === undefined ? undefined : tracesUrl(httpUrl("--endpoint", endpoint).href);
  const lines = out === undefined ? undefined : await openLines(out, io);
  const sender = url === undefined ? undefined : new OtlpEndpoint({ url });
  return {
    targets: [lines, sender].filter((target) => target !== undefined),
    lines,
    sender,
    rejects: rejects === undefined ? undefined : await RejectsFile.open(rejects, io),
    // Last, since only the log has something to give back when an option after it were wrong.
    log: audit === undefined ? undefined : await openAuditLog(audit, inputs),
  };
}

async function openLines(plan: OutputPlan, io: Io): Promise<SpanLines> {
  const { end, stream } = await openOutput(plan, io);
  return new SpanLines(stream, end);
}
