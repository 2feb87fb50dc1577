// npm run docs:site: builds the documentation as a site in site/. VitePress is installed once, beside the servers of
// the end-to-end tests. A link that leads nowhere fails it. Further arguments go to VitePress: `--outDir DIR`.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SERVERS } from "./servers/catalog.mjs";

const { path } = await SERVERS.vitepress("vitepress", (line) => console.error(line));
const docs = fileURLToPath(new URL("../docs/", import.meta.url));
const program = join(path, "bin/vitepress.js");
const args = [program, "build", docs, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
process.exitCode = status ?? 1;
