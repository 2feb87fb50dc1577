import { resolve } from "node:path";
import type { NdjsonSessionLog } from "../../audit/ndjson/ndjson-session-log.ts";
import { OtlpEndpoint } from "../../otel/replay/otlp-endpoint.ts";
import { SpanLines } from "../../otel/replay/span-lines.ts";
import type { SpanTarget } from "../../otel/replay/span-target.ts";
import { tracesUrl } from "../../otel/setup/endpoint.ts";
import { CliError } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { httpUrl } from "../jaeger.ts";
import { openAuditLog } from "./audit-directory.ts";
import type { InputFile } from "./input-file.ts";
import { openOutput } from "./output-file.ts";
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
  const { audit, endpoint, out, rejects } = options;
  if (out !== undefined && rejects !== undefined && resolve(out) === resolve(rejects)) {
    throw new CliError("--out and --rejects: expected two different files");
  }
  const url = endpoint === undefined ? undefined : tracesUrl(httpUrl("--endpoint", endpoint).href);
  const lines = await openLines(out, inputs, io);
  const sender = url === undefined ? undefined : new OtlpEndpoint({ url });
  return {
    targets: [lines, sender].filter((target) => target !== undefined),
    lines,
    sender,
    rejects: rejects === undefined ? undefined : await RejectsFile.open(rejects, inputs, io),
    // Last, since only the log has something to give back when an option after it were wrong.
    log: audit === undefined ? undefined : await openAuditLog(audit),
  };
}

async function openLines(
  out: string | undefined,
  inputs: readonly InputFile[],
  io: Io,
): Promise<SpanLines | undefined> {
  if (out === undefined) return undefined;
  return out === "-"
    ? new SpanLines(io.stdout, false)
    : new SpanLines(await openOutput("--out", out, inputs), true);
}
