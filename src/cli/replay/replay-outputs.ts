import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import type { NdjsonSessionLog } from "../../audit/door.ts";
import { OtlpEndpoint, SpanLines, type SpanTarget, tracesUrl } from "../../bridge/door.ts";
import { hasCode } from "../../events/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { httpUrl } from "../endpoints.ts";
import { safe } from "../terminal/text.ts";
import { openAuditLog } from "./audit-directory.ts";
import type { InputFile } from "./input-files.ts";
import { checkApart, type OutputPlan, planOutput } from "./output-plan.ts";
import { RejectsFile } from "./rejects-file.ts";
import { ReplacedFile } from "./replaced-file.ts";

/** What the options say about where things go; each absent where the option is. */
interface OutputOptions {
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

/** A stream, and whether it is to be ended: standard output is not. */
interface OutputFile {
  readonly stream: Writable;
  readonly end: boolean;
}

/** @throws CliError when it can't be written. */
export async function openOutput(plan: OutputPlan, io: Io): Promise<OutputFile> {
  const { name, option, to } = plan;
  try {
    switch (to.kind) {
      case "stdout":
        return { stream: io.stdout, end: false };
      case "descriptor":
        // By its number: opened by its name, a file would be written from its begin.
        return { stream: createWriteStream("", { fd: to.fd, autoClose: false }), end: true };
      case "special": {
        const stream = createWriteStream(name);
        await once(stream, "open");
        return { stream, end: true };
      }
      case "file":
        return { stream: await ReplacedFile.open(to.path, to.existing), end: true };
      default:
        return to satisfies never;
    }
  } catch (error) {
    const isFolder = to.kind === "file" && hasCode(error, "EACCES", "EPERM", "EROFS");
    const hint = isFolder
      ? `The file is written beside its place first: ${safe(dirname(to.path))} must be writable. Or: ${option} - > FILE`
      : undefined;
    throw new CliError(`${option}: ${safe(messageOf(error))}`, hint, { cause: error });
  }
}
