import { join } from "node:path";
import { mustRun } from "./command.mjs";

/** Older ones have errors of their own, which show since no types are skipped. */
export const NODE_TYPES = { "@types/node": "20.19.43" };

/**
 * Compiles files of a project as strictly as a user may, with the compiler of this package.
 *
 * @throws Error with what the compiler says.
 */
export async function compile(root, project, files, options) {
  const compilerOptions = {
    target: "ES2022",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: false,
    ...options,
  };
  await project.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await mustRun(process.execPath, [tsc, "--project", "."], { cwd: project.folder });
}
