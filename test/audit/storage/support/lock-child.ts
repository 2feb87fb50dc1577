import { writeSync } from "node:fs";
import { lockDirectory } from "../../../../src/audit/storage/directory-lock.ts";

/* Locks a folder, says so, and stays until killed; with "leave" it does nothing more. */

const [folder = "", then = ""] = process.argv.slice(2);
await lockDirectory(folder);
if (then !== "leave") {
  writeSync(1, "locked\n");
  setInterval(() => {}, 1000);
}
