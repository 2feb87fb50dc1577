// node scripts/strip-lock.mjs [FILE]: takes the download addresses out of package-lock.json, or FILE: they name the
// registry of whoever wrote it. Run after `npm install --omit-lockfile-registry-resolved=false` (npm's own switch loses
// the versions of optional packages for other platforms, and `npm ci` then refuses the file).
import { readFileSync, writeFileSync } from "node:fs";

const path = process.argv[2] ?? new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
for (const [name, entry] of Object.entries(lock.packages)) {
  if (name !== "" && entry.version === undefined)
    throw new Error(`${name}: no version in the lock file`);
  delete entry.resolved;
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
