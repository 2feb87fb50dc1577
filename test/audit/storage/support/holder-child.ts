import { writeSync } from "node:fs";
import { lockHolder } from "../../../../src/audit/storage/directory-lock.ts";

/* Says who holds a folder. */

writeSync(1, await lockHolder(process.argv[2] ?? ""));
