// Loads TypeScript source as JavaScript, line by line the same.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  const text = await readFile(fileURLToPath(url), "utf8");
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: "es2022", module: "esnext", verbatimModuleSyntax: true },
  });
  return { format: "module", source: outputText, shortCircuit: true };
}
