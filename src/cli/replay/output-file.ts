import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { hasCode } from "../../storage/system-error.ts";
import { CliError, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/safe-text.ts";
import type { OutputPlan } from "./output-plan.ts";
import { ReplacedFile } from "./replaced-file.ts";

/** A stream, and whether it is to be ended: standard output is not. */
export interface OutputFile {
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
