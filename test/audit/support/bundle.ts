import { join } from "node:path";
import { rolldown } from "rolldown";

/** Bundles one of this folder's programs into a module that plain Node runs, and gives its path. */
export async function bundle(program: string, folder: string): Promise<string> {
  const built = await rolldown({
    input: join(import.meta.dirname, program),
    platform: "node",
    logLevel: "silent",
  });
  const file = join(folder, "program.mjs");
  await built.write({ file, format: "esm" });
  await built.close();
  return file;
}
