import { existsSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { openFile } from "../../audit/door.ts";
import { VERSION } from "../../version.ts";
import { safe } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/** Packages that must have only one copy: two copies do not share spans, contexts or resources. */
const SHARED = [
  "@opentelemetry/api",
  "@opentelemetry/core",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "entelix-otel",
];

/** Packages that `entelix-otel/setup` needs, without the API. */
const FOR_SETUP = ["@opentelemetry/resources", "@opentelemetry/sdk-trace"];

/** What `entelix-otel/telemetry` needs in addition. */
const FOR_METRICS = ["@opentelemetry/sdk-metrics"] as const;

/** Packages with a tracer provider. */
const SDKS = [
  "@opentelemetry/sdk-trace",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-web",
  "@vercel/otel",
  "dd-trace",
];

/** Whether a file of the directory could load the package, also from a directory above. */
function isAbove(name: string, directory: string): boolean {
  const paths = createRequire(join(directory, "file.js")).resolve.paths(name) ?? [];
  return paths.some((path) => existsSync(join(path, name)));
}

/** Whether the package that makes metrics is installed. */
export function canSendMetrics({ packages }: Installed): boolean {
  return FOR_METRICS.every((wanted) => packages.some(({ name }) => name === wanted));
}

/** Checks the versions of Node and of the packages below a directory. */
export function checkPackages(installed: Installed, directory: string): Finding[] {
  const findings = [checkNode(process.versions.node), ok(`entelix-otel ${VERSION} (this command)`)];
  const { cutShort, packages } = installed;
  if (packages.length === 0) {
    findings.push(note("packages: none of OpenTelemetry below this directory"));
    return findings;
  }
  const single: string[] = [];
  const repeated: Finding[] = [];
  const names = new Set(packages.map(({ name }) => name));
  for (const name of [...names].sort()) {
    const copies = packages.filter((each) => each.name === name);
    if (copies.length > 1) repeated.push(checkCopies(name, copies, directory));
    else single.push(`${name.replace("@opentelemetry/", "")} ${copies[0]?.version}`);
  }
  if (single.length > 0) findings.push(ok(`one copy each: ${safe(single.join(", "))}`));
  for (const finding of repeated) findings.push(finding);
  if (
    names.has("entelix-otel") &&
    !SDKS.some((name) => names.has(name) || isAbove(name, directory))
  ) {
    findings.push(
      problem(
        "no OpenTelemetry SDK is installed: without one, no spans are made",
        "npm install @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/sdk-metrics",
      ),
    );
  }
  if (!names.has("@opentelemetry/api")) {
    findings.push(problem("@opentelemetry/api is not installed", "npm install @opentelemetry/api"));
  }
  for (const [entry, needed] of [
    ["entelix-otel/setup", FOR_SETUP],
    ["entelix-otel/telemetry (metrics)", FOR_METRICS],
  ] as const) {
    const missing = needed.filter((name) => !names.has(name));
    if (missing.length > 0) findings.push(note(`${entry} would need: ${missing.join(", ")}`));
  }
  if (cutShort) {
    findings.push(note("packages: not all directories were searched, the limit is 20,000"));
  }
  return findings;
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok(`Node.js ${version}`);
  return problem(`Node.js ${version} is too old`, "Install 20.19 or newer.");
}

function checkCopies(
  name: string,
  copies: readonly InstalledPackage[],
  directory: string,
): Finding {
  const versions = [...new Set(copies.map(({ version }) => version))].sort();
  const places = copies.map(({ path }) => safe(relative(directory, path))).join(", ");
  const what = `${safe(name)}: ${copies.length} copies, ${safe(versions.join(" and "))} (${places})`;
  // Copies of one minor version are only noted.
  const lines = new Set(versions.map((version) => version.split(".", 2).join(".")));
  if (!SHARED.includes(name) || lines.size === 1) return note(what);
  const trouble =
    name === "@opentelemetry/api"
      ? "spans made with one copy may silently not reach the other"
      : "they do not work together";
  return problem(
    `${what}: ${trouble}`,
    `npm ls ${safe(name)} shows which packages need it. Use one version for all (npm: overrides).`,
  );
}

/** A package, at its real path. */
interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly path: string;
}

export interface Installed {
  readonly packages: readonly InstalledPackage[];
  /** Whether the search stopped at its limit. */
  readonly cutShort: boolean;
}

/** Most levels of directories outside of `node_modules`. */
const MOST_DEPTH = 4;
const MOST_DIRECTORIES = 20_000;

/** Finds the OpenTelemetry packages, and this one, in every `node_modules` below a directory. */
export async function installedPackages(directory: string): Promise<Installed> {
  const search = new Search();
  await search.project(directory, 0);
  return { packages: [...search.found.values()], cutShort: search.left === 0 };
}

class Search {
  /** By real path, so that a linked package counts once. */
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
          await this.#package(join(path, inner), `${name}/${inner}`);
        }
      } else if (name === ".pnpm") {
        for (const stored of await this.#directoriesIn(path)) {
          await this.#modules(join(path, stored, "node_modules"));
        }
      } else if (!name.startsWith(".")) await this.#package(path, name);
    }
  }

  async #package(path: string, name: string): Promise<void> {
    const isWanted = name === "entelix-otel" || name.startsWith("@opentelemetry/");
    const version = isWanted ? await versionOf(path) : undefined;
    if (version !== undefined) {
      const real = await realpath(path);
      this.found.set(real, { name, version, path: real });
    }
    if ((await this.#directoriesIn(path)).includes("node_modules")) {
      await this.#modules(join(path, "node_modules"));
    }
  }

  /** Includes links in `node_modules`, because workspaces and pnpm link packages. */
  async #directoriesIn(directory: string): Promise<string[]> {
    if (this.left === 0) return [];
    this.left--;
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isModules(directory)))
      .map((entry) => entry.name);
  }
}

/** Elsewhere, links are not followed, because they may form loops. */
function isModules(directory: string): boolean {
  return /[\\/]node_modules(?:[\\/]@[^\\/]+)?$/.test(directory);
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const file = await openFile(join(path, "package.json"));
    const text = await file.readFile("utf8").finally(() => file.close());
    const manifest: unknown = JSON.parse(text);
    if (typeof manifest !== "object" || manifest === null || !("version" in manifest))
      return undefined;
    return typeof manifest.version === "string" ? manifest.version : undefined;
  } catch {
    return undefined;
  }
}
