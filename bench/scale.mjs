// npm run build && node bench/scale.mjs [EVENTS]: the events of a Kafka topic worked off by one, two and three
// workers, as ratios; see test/e2e/kafka/scale.ts, which needs the newer Node that it installs.
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const install = [at("../scripts/servers/install.mjs"), "newer-node"];
const [, , ...path] = execFileSync(process.execPath, install, { encoding: "utf8" })
  .trim()
  .split(" ");
const program = [at("../test/e2e/kafka/scale.ts"), ...process.argv.slice(2)];
process.exitCode = spawnSync(path.join(" "), program, { stdio: "inherit" }).status ?? 1;
