import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { realpath } from "node:fs/promises";
import type { Writable } from "node:stream";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";
import type { InputFile } from "./input-file.ts";

/**
 * Opens a file that an option named, empty.
 *
 * @throws CliError when it can't be written, or is one of the files that are read.
 */
export async function openOutput(
  option: string,
  name: string,
  inputs: readonly InputFile[],
): Promise<Writable> {
  const existing = await realpath(name).catch(() => undefined);
  if (existing !== undefined && inputs.some((input) => input.path === existing)) {
    throw new CliError(`${option}: ${safe(name)} is one of the files to read`);
  }
  const stream = createWriteStream(name);
  try {
    await once(stream, "open");
  } catch (error) {
    throw new CliError(`${option}: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
  return stream;
}
