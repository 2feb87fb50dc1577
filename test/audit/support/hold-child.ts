import { writeSync } from "node:fs";
import { NdjsonSessionLog } from "../../../src/audit/ndjson/ndjson-session-log.ts";
import { entries, key } from "./entries.ts";

/* A writer that appends two rows, says so, and has the log open until it is told to close it, or is killed. */

const log = await NdjsonSessionLog.open(process.argv[2] ?? "");
await log.append(key, entries(2));
process.stdin.once("data", async () => {
  await log.close();
  process.stdin.destroy();
});
writeSync(1, "written\n");
