import { join } from "node:path";
import { rolldown } from "rolldown";

/** Bundles a program of the tests, named by its path, into a module that plain Node runs, and gives its path. */
export async function bundle(program: string, folder: string): Promise<string> {
  const built = await rolldown({ input: program, platform: "node", logLevel: "silent" });
  const file = join(folder, "program.mjs");
  await built.write({ file, format: "esm" });
  await built.close();
  return file;
}
