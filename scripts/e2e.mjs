// npm run test:e2e [-- --long] [OPTION OF VITEST…]: the end-to-end tests. `--long` gives their long form: a whole week
// without alarms, two million records through Kafka. CI runs the short one.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const given = process.argv.slice(2);
const options = given.filter((option) => option !== "--long");
const { error, status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--config",
    "vitest.e2e.config.ts",
    ...options,
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: options.length < given.length ? { ...process.env, ENTELIX_LONG_TESTS: "1" } : process.env,
  },
);
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
