import { cp, mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun, npm, npmRemarks } from "./command.mjs";

const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));

/** An application of its own, with the tarball and the packages it names installed. */
export class Project {
  constructor(folder, node) {
    this.folder = folder;
    this.node = node;
  }

  /**
   * Makes and installs it.
   *
   * @param packages name to version of what is installed beside the tarball.
   * @param node the Node that installs it and runs its programs. Default: this one.
   * @throws Error when npm has a remark to make: a user would read it.
   */
  static async create(parent, name, { tarball, packages = {}, node = process.execPath }) {
    const project = new Project(join(parent, name), node);
    await mkdir(project.folder);
    const dependencies = {
      ...packages,
      ...(tarball === undefined ? {} : { "entelix-otel": `file:../${basename(tarball)}` }),
    };
    await project.write("package.json", JSON.stringify({ name, private: true, dependencies }));
    await project.add();
    return project;
  }

  /**
   * Installs what `package.json` names, and more.
   *
   * @param packages paths of tarballs.
   * @throws Error when npm has a remark to make: a user would read it.
   */
  async add(...packages) {
    const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages];
    const { stderr } = await npm(args, { cwd: this.folder, node: this.node });
    const remarks = npmRemarks(stderr);
    if (remarks.length > 0)
      throw new Error(`npm install: expected no remark\n${remarks.join("\n")}`);
  }

  /**
   * What is installed: name and version, sorted, a package as often as there are copies.
   *
   * @throws Error when `npm ls` finds a package missing, or one that does not fit another.
   */
  async installed() {
    const where = { cwd: this.folder, node: this.node };
    await npm(["ls", "--all"], where);
    const { stdout } = await npm(["query", "*", "--json"], where);
    return JSON.parse(stdout)
      .filter(({ location }) => location !== "")
      .map(({ name, version }) => `${name} ${version}`)
      .sort();
  }

  write(file, text) {
    return writeFile(join(this.folder, file), text);
  }

  /** Takes a program of `programs/` over, under another name where one is given. */
  async take(program, name = program) {
    await cp(join(PROGRAMS, program), join(this.folder, name));
    return name;
  }

  /**
   * Runs a program of the project.
   *
   * @returns what it printed.
   * @throws Error when it fails, or has anything to say on standard error.
   */
  async run(file, env = {}) {
    const { stdout, stderr } = await mustRun(this.node, [file], { cwd: this.folder, env });
    if (stderr !== "") throw new Error(`${file}: expected no warning, got\n${stderr}`);
    return stdout.trimEnd();
  }

  /** Runs the installed command. @returns `{ code, stdout, stderr }`. */
  command(args) {
    return mustRun(join(this.folder, "node_modules", ".bin", "entelix-otel"), args, {
      cwd: this.folder,
    });
  }
}
