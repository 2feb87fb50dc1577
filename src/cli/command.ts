import type { Readable, Writable } from "node:stream";
import type { Output } from "./terminal/output.ts";

/** An option of a command, as `node:util`'s `parseArgs` takes it, with what the help needs. */
export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** It may be given several times. */
  readonly multiple?: boolean;
  /** What stands for the value in the help: `FILE`. */
  readonly value?: string;
  readonly about: string;
}

/** The process around a command. */
export interface Io {
  readonly out: Output;
  readonly err: Output;
  /** Bytes in and out, for `-` as a file name. */
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One command of `entelix-otel`. */
export interface Command {
  /** One or two words: `replay`, `audit verify`. */
  readonly name: string;
  readonly summary: string;
  /** What follows the name, without the options: `FILE…`. */
  readonly operands: string;
  /** How many operands there must be. */
  readonly least: number;
  readonly most: number;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Paragraphs of the help that follow the options. */
  readonly notes: readonly string[];
  /**
   * @param args what follows the name, checked against `options` and the number of operands.
   * @returns the exit code.
   * @throws CliError when the user has to put something right: exit code 1.
   */
  run(args: string[], io: Io): Promise<number>;
}
