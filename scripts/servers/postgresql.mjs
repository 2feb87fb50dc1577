// PostgreSQL's server: Debian keeps it off PATH, in a folder for each major version.
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { firstLine } from "./command.mjs";
import { debianPackages } from "./debian-package.mjs";

const DEBIAN = "/usr/lib/postgresql";
const SETTINGS = "/etc/postgresql-common/createcluster.conf";
/** The oldest major version whose functions the schema uses. */
const OLDEST = 13;

/** The folders that may hold `postgres` and `initdb`, the newest of Debian's first. */
async function folders() {
  const versions = await readdir(DEBIAN).catch(() => []);
  return [
    ...versions
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
}

async function find() {
  for (const folder of await folders()) {
    const path = join(folder, "postgres");
    if (!existsSync(path) || !existsSync(join(folder, "initdb"))) continue;
    const version = / (\d+)(\S*)/.exec((await firstLine(path, "--version")) ?? "");
    if (version !== null && Number(version[1]) >= OLDEST) {
      return { version: `${version[1]}${version[2]}`, path };
    }
  }
  return undefined;
}

/**
 * @param {string} name
 * @param {(line: string) => void} tell
 * @returns {Promise<{ version: string, path: string }>} of `postgres`; `initdb` stands beside it
 * @throws {Error} when it is absent and can't be installed
 */
export async function postgresql(name, tell) {
  const there = await find();
  if (there !== undefined) return there;
  await install(name, tell);
  const installed = await find();
  if (installed === undefined) throw new Error(`postgresql is installed, and not below ${DEBIAN}`);
  return installed;
}

/**
 * @param {string} name
 * @param {(line: string) => void} tell
 */
async function install(name, tell) {
  const add = await debianPackages(name, "postgresql", tell);
  await add("postgresql-common");
  // The package would make a database of its own and start a server on the usual port.
  const settings = await readFile(SETTINGS, "utf8");
  await writeFile(
    SETTINGS,
    settings.replace(/^#?\s*create_main_cluster\s*=.*$/m, "create_main_cluster = false"),
  );
  await add("postgresql");
}
