import type { Readable, Writable } from "node:stream";
import type { Output } from "./terminal/output.ts";

/** An option for `parseArgs` of `node:util`, with texts for the help. */
export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Whether it can be repeated. Default: false. */
  readonly multiple?: boolean;
  /** Its value if none is given. An argument after the option is its value if `accepts` matches it. */
  readonly optional?: { readonly value: string; readonly accepts: RegExp };
  /** Name of the value in the help, for example `FILE`. */
  readonly value?: string;
  readonly about: string;
}

/** The process around a command. */
export interface Io {
  readonly out: Output;
  readonly err: Output;
  /** Streams for the file name `-`. */
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the process soon, even if a connection to a store, broker or browser is still open. */
  leaveSoon(): void;
}

/** A command in the list of all. Its code is loaded only when a command line names it. */
export interface ListedCommand {
  /** One or two words: `replay`, `audit verify`. */
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** The code of one command. */
export interface Command {
  /** Operands in the help, for example `FILE…`. */
  readonly operands: string;
  /** Minimum and maximum number of operands. */
  readonly least: number;
  readonly most: number;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Paragraphs of the help below the options. */
  readonly notes: readonly string[];
  /**
   * @param args arguments after the name, already checked against `options` and the number of operands.
   * @returns the exit code.
   * @throws CliError for an error that the user can fix.
   */
  run(args: string[], io: Io): Promise<number>;
}
