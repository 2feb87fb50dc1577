// node scripts/run-typescript.mjs FILE.ts [ARGUMENT …]: runs a TypeScript program of this repository.
import { spawnSync } from "node:child_process";
import { withBundle } from "./bundle-typescript.mjs";

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new TypeError("expected the path of a TypeScript program");

await withBundle(program, (bundle) => {
  const { error, status } = spawnSync(process.execPath, [bundle, ...args], { stdio: "inherit" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
});
