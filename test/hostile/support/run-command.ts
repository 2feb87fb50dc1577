import { type CommandOptions, type CommandResult, command } from "../../cli/support/command.ts";
import type { Trial } from "../trial.ts";

/** Runs the built command for a trial, and not for longer: one that hangs ends with it. */
export function runCommand(
  trial: Pick<Trial, "atEnd">,
  args: readonly string[],
  options: Omit<CommandOptions, "signal"> = {},
): Promise<CommandResult> {
  const over = new AbortController();
  trial.atEnd(() => over.abort());
  return command(args, { ...options, signal: over.signal });
}
