// The browser that opens the page of `view`: Debian's Chromium, for playwright-core.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./command.mjs";
import { debianPackages } from "./debian-package.mjs";

const NAME = "chromium";

async function find() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, NAME);
    if (!existsSync(path)) continue;
    // Its launcher may say something of the terminal first.
    const [, version] = /Chromium (\d+(?:\.\d+)+)/.exec(await run(path, ["--version"])) ?? [];
    if (version !== undefined) return { version, path };
  }
  return undefined;
}

/**
 * @param {string} name
 * @param {(line: string) => void} tell
 * @returns {Promise<{ version: string, path: string }>} of the program
 * @throws {Error} when it is absent and can't be installed
 */
export async function chromium(name, tell) {
  const there = await find();
  if (there !== undefined) return there;
  const add = await debianPackages(name, NAME, tell);
  await add(NAME);
  const installed = await find();
  if (installed === undefined) throw new Error(`${NAME} is installed, and not on PATH`);
  return installed;
}
