import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const INSTALL = join(ROOT, "scripts/servers/install.mjs");
const HERE = fileURLToPath(new URL(".", import.meta.url));

/** What a child process of these may take, in ms: the slowest plays for about 40 s. */
const TIMEOUT_MS = 180_000;

/** What a scene made, as the programs print it. */
export interface Scene {
  /** Its spans, a line each, indented below their parent. */
  readonly tree: readonly string[];
  readonly traces: number;
  readonly thrown: string | null;
  readonly troubles: readonly string[];
  /** The adapter's counts that are not 0. */
  readonly counts: Readonly<Record<string, number>>;
}

export type Scenes = Readonly<Record<string, Scene>>;

/** @returns the path of what `scripts/servers` installs by that name. */
export async function installedPath(name: string): Promise<string> {
  const { stdout } = await run(process.execPath, [INSTALL, name]);
  return stdout.trim().split(" ").slice(2).join(" ");
}

/** Packs what is built, as it would be published. @returns the path of the tarball, in `folder`. */
export async function packed(folder: string): Promise<string> {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: ROOT });
  const name = /"filename": "([^"]+)"/.exec(stdout)?.[1];
  if (name === undefined) throw new Error(`npm pack: expected a filename, got ${stdout}`);
  return join(folder, name);
}

/**
 * An application with the packed package beside a framework. It lies inside the framework's installation, so that
 * Node finds the package in the application, and everything else one `node_modules` up: one copy of each.
 */
export class AdaptersProject {
  readonly folder: string;
  readonly #node: string;

  private constructor(folder: string, node: string) {
    this.folder = folder;
    this.#node = node;
  }

  /** @param server the framework's name in `scripts/servers`. @param node what runs it. */
  static async create(server: string, tarball: string, node: string): Promise<AdaptersProject> {
    const folder = await mkdtemp(join(dirname(await installedPath(server)), "project-"));
    const ours = join(folder, "node_modules/entelix-otel");
    await mkdir(ours, { recursive: true });
    await run("tar", ["--extract", "--file", tarball, "--directory", ours, "--strip-components=1"]);
    return new AdaptersProject(folder, node);
  }

  /**
   * Runs a program that lies beside this file.
   *
   * @param needs files that it imports, beside `adapters-scenes.mjs`.
   * @returns what it printed of each scene.
   */
  play(program: string, needs: readonly string[] = []): Promise<Scenes> {
    return this.run<Scenes>(program, [], needs);
  }

  /** The same for a program with arguments. @returns the JSON that it printed. */
  async run<T>(
    program: string,
    args: readonly string[],
    needs: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    for (const file of [program, "adapters-scenes.mjs", ...needs]) {
      await cp(join(HERE, file), join(this.folder, file));
    }
    const options = {
      cwd: this.folder,
      timeout: TIMEOUT_MS,
      env: { PATH: process.env.PATH, ...env },
    };
    const { stdout } = await run(this.#node, [program, ...args], options);
    const printed: T = JSON.parse(stdout);
    return printed;
  }

  /** Runs a program that lies beside this file with the package registered from outside. @returns what it printed. */
  async registered(program: string, env: Readonly<Record<string, string>>): Promise<string> {
    await cp(join(HERE, program), join(this.folder, program));
    const args = ["--import", "entelix-otel/register", program];
    const options = {
      cwd: this.folder,
      timeout: TIMEOUT_MS,
      env: { PATH: process.env.PATH, ...env },
    };
    const { stderr, stdout } = await run(this.#node, args, options);
    return stderr + stdout;
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
