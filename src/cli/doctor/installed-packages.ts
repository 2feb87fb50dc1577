import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";

/** A package that was found, at its real place. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly path: string;
}

export interface Installed {
  readonly packages: readonly InstalledPackage[];
  /** Whether there was more to look at than the limit allows. */
  readonly cutShort: boolean;
}

const SCOPE = "@opentelemetry";
const OURS = "entelix-otel";
/** How far down projects are looked for; packages inside packages are followed as deep as they go. */
const MOST_DEPTH = 4;
const MOST_DIRECTORIES = 20_000;

/** Finds the OpenTelemetry packages, and this one, in every `node_modules` below a directory. */
export async function installedPackages(directory: string): Promise<Installed> {
  const search = new Search();
  await search.project(directory, 0);
  return { packages: [...search.found.values()], cutShort: search.left === 0 };
}

class Search {
  /** By real path: a linked package is one. */
  readonly found = new Map<string, InstalledPackage>();
  left = MOST_DIRECTORIES;

  async project(directory: string, depth: number): Promise<void> {
    for (const name of await this.#directoriesIn(directory)) {
      if (name === "node_modules") await this.#modules(join(directory, name));
      else if (depth < MOST_DEPTH && !name.startsWith(".")) {
        await this.project(join(directory, name), depth + 1);
      }
    }
  }

  async #modules(directory: string): Promise<void> {
    for (const name of await this.#directoriesIn(directory)) {
      const path = join(directory, name);
      if (name.startsWith("@")) {
        for (const inner of await this.#directoriesIn(path)) {
          await this.#package(join(path, inner), name === SCOPE ? `${name}/${inner}` : undefined);
        }
      } else if (name === ".pnpm") {
        for (const stored of await this.#directoriesIn(path)) {
          await this.#modules(join(path, stored, "node_modules"));
        }
      } else if (!name.startsWith(".")) await this.#package(path, name === OURS ? name : undefined);
    }
  }

  /** @param wanted the package's name where it is one of those looked for. */
  async #package(path: string, wanted: string | undefined): Promise<void> {
    if (wanted !== undefined) await this.#add(path, wanted);
    if ((await this.#directoriesIn(path)).includes("node_modules")) {
      await this.#modules(join(path, "node_modules"));
    }
  }

  async #add(path: string, name: string): Promise<void> {
    const version = await versionOf(path);
    if (version === undefined) return;
    const real = await realpath(path);
    this.found.set(real, { name, version, path: real });
  }

  /** Links are listed, since workspaces and stores link packages, but counted once. */
  async #directoriesIn(directory: string): Promise<string[]> {
    if (this.left === 0) return [];
    this.left--;
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isModules(directory)))
      .map((entry) => entry.name);
  }
}

/** Links are followed among packages only: elsewhere they can lead round in circles. */
function isModules(directory: string): boolean {
  return /[\\/]node_modules(?:[\\/]@[^\\/]+)?$/.test(directory);
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(path, "package.json"), "utf8");
    const manifest: unknown = JSON.parse(text);
    if (typeof manifest !== "object" || manifest === null || !("version" in manifest))
      return undefined;
    return typeof manifest.version === "string" ? manifest.version : undefined;
  } catch {
    return undefined;
  }
}
