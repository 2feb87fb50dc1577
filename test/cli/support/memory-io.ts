import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Io, Output } from "../../../src/cli/door.ts";

/** A process around a command, with its two outputs in memory. */
export function memoryIo(
  stdin: string | Uint8Array | Readable = "",
  env: Readonly<Record<string, string>> = {},
): {
  readonly io: Io;
  /** Ends the outputs, and returns what was written to them. */
  readonly ended: () => Promise<{ stdout: string; stderr: string }>;
} {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([text(stdout), text(stderr)]);
  const io = {
    out: new Output(stdout, env),
    err: new Output(stderr, env),
    stdin: stdin instanceof Readable ? stdin : Readable.from([stdin], { objectMode: false }),
    stdout,
    env,
    leaveSoon: () => {},
  };
  const ended = async () => {
    stdout.end();
    stderr.end();
    const [out, err] = await texts;
    return { stdout: out, stderr: err };
  };
  return { io, ended };
}
