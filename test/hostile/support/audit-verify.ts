import { run } from "../../../src/cli/door.ts";
import { COMMANDS } from "../../../src/commands.ts";
import { memoryIo } from "../../cli/support/memory-io.ts";

/** What `audit verify` says of a folder and ends with, without a process of its own. */
export async function verifyInProcess(folder: string): Promise<{ code: number; said: string }> {
  const { io, ended } = memoryIo();
  const code = await run(["audit", "verify", folder], io, COMMANDS);
  const { stderr, stdout } = await ended();
  return { code, said: stdout + stderr };
}
