import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT } from "./pages.ts";

/** The package's entries, as `exports` of package.json has them. */
const ENTRIES = [
  "src/index.ts",
  ...readdirSync(join(ROOT, "src/entries")).map((name) => `src/entries/${name}`),
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

/** What whoever reads recordings passes and is given, and so has to be able to name. */
const OF_READING = ["readEvents", "ReadEventsOptions", "Dialect", "Decoded"];

/** Types of this package that the declarations of some exports name, and the entry does not export. */
function unnameable(
  checker: ts.TypeChecker,
  file: ts.SourceFile | undefined,
  names: readonly string[],
): string[] {
  const entry = file && checker.getSymbolAtLocation(file);
  if (entry === undefined) throw new Error("no such entry");
  const whole = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Map(checker.getExportsOfModule(entry).map((one) => [one.name, whole(one)]));
  const known = new Set(exported.values());
  const missing = new Set<string>();
  const visit = (node: ts.Node): void => {
    const name = ts.isTypeReferenceNode(node) ? node.typeName : undefined;
    const found = name && checker.getSymbolAtLocation(name);
    const symbol = found && whole(found);
    const from = symbol?.declarations?.[0];
    const ours = from?.getSourceFile().fileName.startsWith(join(ROOT, "src")) ?? false;
    const free = from !== undefined && ts.isTypeParameterDeclaration(from);
    if (symbol !== undefined && ours && !free && !known.has(symbol)) missing.add(symbol.name);
    if (!ts.isBlock(node)) ts.forEachChild(node, visit);
  };
  for (const name of names) {
    const symbol = exported.get(name);
    if (symbol === undefined) throw new Error(`no export ${name}`);
    symbol.declarations?.forEach(visit);
  }
  return [...missing];
}

/** Options that may be left out, but not be given as `undefined`. */
function notUndefined(checker: ts.TypeChecker, file: ts.SourceFile | undefined): string[] {
  const entry = file && checker.getSymbolAtLocation(file);
  if (entry === undefined) throw new Error("no such entry");
  return checker
    .getExportsOfModule(entry)
    .map((name) => (name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name))
    .filter(({ name }) => /(?:Options|Settings|Limits|Filter)$/.test(name))
    .flatMap(({ declarations = [], name }) =>
      declarations
        .filter(ts.isInterfaceDeclaration)
        .flatMap(({ members }) => [...members])
        .filter(ts.isPropertySignature)
        .filter(
          ({ questionToken, type }) => questionToken && !type?.getText().includes("undefined"),
        )
        .map((member) => `${name}.${member.name.getText()}`),
    );
}

describe("the public interface", () => {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(ENTRIES, options);
  const checker = program.getTypeChecker();

  it.each([
    ["says of each export what it is", undocumented],
    ["takes undefined for every option, as of a setting that is not there", notUndefined],
  ])("%s", (_, wrong) => {
    for (const entry of ENTRIES) {
      expect(wrong(checker, program.getSourceFile(entry)), entry).toEqual([]);
    }
  });

  it("has at most 40 names in the main entry", () => {
    const [main = ""] = ENTRIES;
    const entry = program.getSourceFile(main);
    const symbol = entry && checker.getSymbolAtLocation(entry);
    const names = symbol === undefined ? [] : checker.getExportsOfModule(symbol);
    expect(names.length).toBeGreaterThan(20);
    expect(names.length).toBeLessThanOrEqual(40);
  });

  it("has a name for all that a reader of recordings passes and is given", () => {
    const entry = program.getSourceFile(join(ROOT, "src/entries/replay.ts"));
    expect(unnameable(checker, entry, OF_READING)).toEqual([]);
  });
});
