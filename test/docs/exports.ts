import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "./pages.ts";

/** The package's entries, as `exports` of package.json has them. */
export const ENTRIES = [
  "src/index.ts",
  ...readdirSync(join(ROOT, "src/entries")).map((name) => `src/entries/${name}`),
].map((file) => join(ROOT, file));

/** What an entry exports without a word about it. */
export function undocumented(checker: ts.TypeChecker, file: ts.SourceFile | undefined): string[] {
  const entry = file && checker.getSymbolAtLocation(file);
  if (entry === undefined) throw new Error("no such entry");
  return checker
    .getExportsOfModule(entry)
    .map((name) => (name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name))
    .filter((symbol) => symbol.getDocumentationComment(checker).length === 0)
    .map((symbol) => symbol.name);
}

/** What whoever reads recordings passes and is given, and so has to be able to name. */
export const OF_READING = ["readEvents", "ReadEventsOptions", "Dialect", "Decoded"];

/** Types of this package that the declarations of some exports name, and the entry does not export. */
export function unnameable(
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
export function notUndefined(checker: ts.TypeChecker, file: ts.SourceFile | undefined): string[] {
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

/** The names of the options of an interface that an entry exports, those of its bases included. */
export function optionsOf(
  checker: ts.TypeChecker,
  file: ts.SourceFile | undefined,
  name: string,
): string[] {
  const entry = file && checker.getSymbolAtLocation(file);
  const found = entry && checker.getExportsOfModule(entry).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no export ${name}`);
  const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  return checker
    .getDeclaredTypeOfSymbol(symbol)
    .getProperties()
    .map((option) => option.name);
}
