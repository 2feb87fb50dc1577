import { auditVerify } from "../../../src/cli/door.ts";
import { memoryIo } from "../../cli/support/memory-io.ts";

/** What `audit verify` says of a folder and ends with, without a process of its own. */
export async function verifyInProcess(folder: string): Promise<{ code: number; said: string }> {
  const { io, ended } = memoryIo();
  const code = await auditVerify.run([folder], io);
  const { stderr, stdout } = await ended();
  return { code, said: stdout + stderr };
}
