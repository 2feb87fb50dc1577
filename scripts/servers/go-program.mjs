// A server that is built from Go sources of this folder, from one Go module, or from a copy of a module with files that
// its release has and the module lacks. It is kept by a hash of what it was built from.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { arch, platform } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, fillWhole } from "./cache.mjs";
import { compareChecksum, writeChecksum } from "./checksum.mjs";
import { firstLine, run } from "./command.mjs";

/**
 * @typedef {object} GoProgram
 * @property {string} name
 * @property {string} version
 * @property {string} module the package to build: "." for the sources' own, or a path, with `@version` when there are
 *   no sources
 * @property {URL} [sources] folder with go.mod, go.sum and the Go files
 * @property {readonly string[]} [tags] build tags
 * @property {string} [copyOf] the module that `module` is in, with `@version`, to copy and to build there; without
 *   `sources`
 * @property {Readonly<Record<string, string>>} [files] what is added to that copy, by path
 */

/** Static and without paths of this machine; two jobs, so that a build leaves a small machine usable. */
const FLAGS = ["-p", "2", "-trimpath", "-ldflags", "-s -w"];

/** @param {GoProgram} program */
async function buildInputs({ module, sources, tags = [], copyOf, files = {} }) {
  const added = copyOf === undefined ? [] : [copyOf, files];
  const inputs = [module, FLAGS, platform(), arch(), ...tags, ...added];
  const hash = createHash("sha256").update(JSON.stringify(inputs));
  if (sources !== undefined) {
    for (const file of (await readdir(sources)).sort()) {
      if (/\.(go|mod|sum)$/.test(file)) {
        hash.update(JSON.stringify([file, await readFile(new URL(file, sources), "utf8")]));
      }
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/**
 * The Go program's path in the cache; built when it is absent or no longer what was built.
 *
 * @param {GoProgram} program
 * @param {(line: string) => void} tell
 * @throws {Error} when there is no Go, or it can't build the program
 */
export async function goProgram(program, tell) {
  const { name, version } = program;
  const folder = join(cacheFolder(), `${name}-${version}-${await buildInputs(program)}`);
  const binary = join(folder, name);
  const state = await compareChecksum(binary);
  if (state === "good") return binary;
  if (state === "changed") tell(`${name}: not what was built, so it is built again`);
  await rm(folder, { recursive: true, force: true });

  const go = await firstLine("go", "version");
  if (go === undefined) {
    throw new Error(
      `${version} has to be built, and there is no Go: put go 1.26.7 or newer on PATH`,
    );
  }
  tell(`${name} ${version}: building with ${go}; the first time takes minutes`);
  await fillWhole(folder, (scratch) => build(program, scratch));
  if ((await compareChecksum(binary)) !== "good") {
    throw new Error(`${binary} was built and is not what its checksum says`);
  }
  return binary;
}

/**
 * @param {GoProgram} program
 * @param {string} folder
 */
async function build({ name, module, sources, tags = [], copyOf, files = {} }, folder) {
  const binary = join(folder, name);
  const flags = [...FLAGS, "-tags", tags.join(",")];
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly -buildvcs=false" };
  if (sources !== undefined) {
    await go(["build", ...flags, "-o", binary, module], { cwd: fileURLToPath(sources), env });
  } else if (copyOf !== undefined) {
    const copy = join(folder, "copy");
    await copyModule(copyOf, files, copy);
    await go(["build", ...flags, "-o", binary, module], { cwd: copy, env });
    await rm(copy, { recursive: true });
  } else {
    // `go install module@version` names its program after the last part of the path.
    const built = join(folder, basename(module.replace(/@.*/, "")));
    await go(["install", ...flags, module], { cwd: folder, env: { ...env, GOBIN: folder } });
    await rename(built, binary);
  }
  await writeChecksum(binary);
}

/**
 * Go checks the module against its checksum database before it is copied.
 *
 * @param {string} module with `@version`
 * @param {Readonly<Record<string, string>>} files
 * @param {string} copy
 */
async function copyModule(module, files, copy) {
  await go(["mod", "download", module]);
  const [where] = (await go(["list", "-m", "-f", "{{.Dir}}", module])).split("\n", 1);
  await run("cp", ["-R", where, copy]);
  // The module cache is read-only.
  await run("chmod", ["-R", "u+w", copy]);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
  }
}

/**
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
function go(args, options) {
  return run("nice", ["-n", "10", "go", ...args], options);
}
