import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdaptersProject, packed } from "./support/adapters-project.ts";
import { TYPED } from "./support/typed-programs.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COMPILER = {
  target: "ES2022",
  module: "NodeNext",
  moduleResolution: "NodeNext",
  typeRoots: [join(ROOT, "node_modules/@types")],
  types: ["node"],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
  noEmit: true,
};

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-declarations-"));
  tarball = await packed(folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** What the compiler says of the program and of our declarations. Frameworks have errors of their own. */
async function complaints(server: string, program: string): Promise<string[]> {
  const project = await AdaptersProject.create(server, tarball, process.execPath);
  try {
    await writeFile(join(project.folder, "app.mts"), program);
    const config = { compilerOptions: COMPILER, files: ["app.mts"] };
    await writeFile(join(project.folder, "tsconfig.json"), JSON.stringify(config));
    const said = await compiled(project.folder);
    return said.split("\n").filter((line) => /^(app\.mts|node_modules\/entelix-otel\/)/.test(line));
  } finally {
    await project.remove();
  }
}

function compiled(cwd: string): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    // It exits with an error where a framework's own declarations do not compile.
    execFile(process.execPath, [tsc, "--project", "."], { cwd, maxBuffer: 2 ** 26 }, (_, stdout) =>
      resolve(stdout),
    );
  });
}

describe("a program that gives our objects to a framework", () => {
  it.each(TYPED)("compiles beside $server, with all declarations checked", async (typed) => {
    expect(await complaints(typed.server, typed.program)).toEqual([]);
  });
});
