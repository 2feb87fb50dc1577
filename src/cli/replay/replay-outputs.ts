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

/** Options that name an output. */
interface OutputOptions {
  readonly out?: string | undefined;
  readonly rejects?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly audit?: string | undefined;
}

/** The outputs of a replay. */
export interface ReplayOutputs {
  readonly targets: readonly SpanTarget[];
  readonly lines: SpanLines | undefined;
  readonly sender: OtlpEndpoint | undefined;
  readonly rejects: RejectsFile | undefined;
  readonly log: NdjsonSessionLog | undefined;
}

/**
 * Checks all options, then opens the outputs.
 *
 * @throws CliError with the invalid option.
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
    // The log is opened last, because it would have to be closed after an error of another option.
    log: audit === undefined ? undefined : await openAuditLog(audit, inputs),
  };
}

async function openLines(plan: OutputPlan, io: Io): Promise<SpanLines> {
  const { end, stream } = await openOutput(plan, io);
  return new SpanLines(stream, end);
}

interface OutputFile {
  readonly stream: Writable;
  /** Whether to end the stream. Standard output stays open. */
  readonly end: boolean;
}

/** @throws CliError if it cannot be written. */
export async function openOutput(plan: OutputPlan, io: Io): Promise<OutputFile> {
  const { name, option, to } = plan;
  try {
    switch (to.kind) {
      case "stdout":
        return { stream: io.stdout, end: false };
      case "descriptor":
        // By its number: opening the name again would write a file from its start.
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
      ? `A temporary file is written first, so ${safe(dirname(to.path))} must be writable. Or use: ${option} - > FILE`
      : undefined;
    throw new CliError(`${option}: ${safe(messageOf(error))}`, hint, { cause: error });
  }
}
