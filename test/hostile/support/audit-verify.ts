import { auditVerify } from "../../../src/cli/audit-verify.ts";
import { Output } from "../../../src/cli/terminal/output.ts";

/** What `audit verify` says of a folder and ends with, without a process of its own. */
export async function verifyInProcess(folder: string): Promise<{ code: number; said: string }> {
  let said = "";
  const stream = {
    write: (text: string) => {
      said += text;
      return true;
    },
    on: () => {},
  };
  const output = new Output(stream, {});
  const { stdin, stdout } = process;
  const io = { out: output, err: output, stdin, stdout, env: {}, leaveSoon: () => {} };
  return { code: await auditVerify.run([folder], io), said };
}
