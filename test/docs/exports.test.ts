import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT } from "./pages.ts";

/** The package's entries, as `exports` of package.json has them. */
const ENTRIES = [
  "src/index.ts",
  "src/otel/setup/index.ts",
  "src/otel/setup/metrics/index.ts",
  "src/audit/postgres/index.ts",
  "src/runtime/index.ts",
  "src/adapters/langchain/index.ts",
  "src/adapters/openai-agents/index.ts",
].map((file) => join(ROOT, file));

/** What an entry exports without a word about it. */
function undocumented(checker: ts.TypeChecker, file: ts.SourceFile | undefined): string[] {
  const entry = file && checker.getSymbolAtLocation(file);
  if (entry === undefined) throw new Error("no such entry");
  return checker
    .getExportsOfModule(entry)
    .map((name) => (name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name))
    .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
    .map((symbol) => symbol.name);
}

describe("the public interface", () => {
  it("says of each export what it is", () => {
    const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const program = ts.createProgram(ENTRIES, options);
    const checker = program.getTypeChecker();
    for (const entry of ENTRIES) {
      expect(undocumented(checker, program.getSourceFile(entry)), entry).toEqual([]);
    }
  });
});
