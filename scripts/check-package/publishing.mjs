import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { mustRun } from "./command.mjs";

/** @throws Error with what publint finds in the tarball, suggestions too. */
export async function checkWithPublint(tarball, fact) {
  const { buffer } = await readFile(tarball);
  const { messages, pkg } = await publint({
    pack: { tarball: buffer },
    level: "suggestion",
    strict: true,
  });
  if (messages.length > 0) {
    throw new Error(messages.map((message) => formatMessage(message, pkg)).join("\n"));
  }
  fact("no error, no warning, no suggestion");
}

/** @throws Error with what attw finds in the types of the tarball, for Node and for bundlers. */
export async function checkWithAttw(root, tarball, fact) {
  const require = createRequire(join(root, "package.json"));
  const manifest = require.resolve("@arethetypeswrong/cli/package.json");
  const cli = join(manifest, "..", require(manifest).bin.attw);
  // Resolution as of Node 10 knows no exports: there the subpath can't be found.
  const args = [cli, tarball, "--profile", "node16", "--format", "ascii", "--no-emoji"];
  await mustRun(process.execPath, args, { cwd: root });
  fact("types and code agree, for ESM, CommonJS and bundlers");
}
