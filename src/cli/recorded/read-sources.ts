import { SourceReadError } from "../../ingest/read-events.ts";
import type { Io } from "../command.ts";
import { bytesOf, type InputFile } from "../replay/input-file.ts";
import type { Progress } from "../replay/progress.ts";

/** Takes one source after the other. */
export interface SourceReader {
  /** @throws SourceReadError when it can't be read to its end; what came before is taken. */
  read(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
}

/**
 * Reads the sources in turn.
 *
 * @param say told of each source that can't be read to its end.
 * @returns the names of those.
 */
export async function readSources(
  reader: SourceReader,
  inputs: readonly InputFile[],
  progress: Progress,
  io: Io,
  say: (text: string) => void,
): Promise<string[]> {
  const unreadable: string[] = [];
  for (const input of inputs) {
    try {
      const bytes = bytesOf(input, io.stdin, (count) => progress.addBytes(count));
      await reader.read(input.name, bytes);
    } catch (error) {
      if (!(error instanceof SourceReadError)) throw error;
      unreadable.push(input.name);
      say(error.message);
    }
  }
  return unreadable;
}

/** Bytes of all sources; `undefined` where one has no size before it is read. */
export function totalSize(inputs: readonly InputFile[]): number | undefined {
  let total = 0;
  for (const { size } of inputs) {
    if (size === undefined) return undefined;
    total += size;
  }
  return total;
}
