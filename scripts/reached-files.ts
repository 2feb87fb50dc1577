import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import ts from "typescript";

/**
 * The source files that a file needs when it runs: its imports and theirs, without types. A door only exports
 * from other files: it stands for those whose names are imported from it.
 *
 * @param start path of the file.
 * @returns absolute paths, and names of packages.
 */
export function reachedFiles(start: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([resolve(start)]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const { from, names } of importsOf(file)) {
      if (!from.startsWith(".")) packages.add(from);
      else
        for (const reached of behindDoors(resolve(dirname(file), from), names)) files.add(reached);
    }
  }
  return { files, packages };
}

interface Import {
  readonly from: string;
  /** `undefined`: all. */
  readonly names: readonly string[] | undefined;
}

function behindDoors(file: string, names: Import["names"]): readonly string[] {
  if (basename(file) !== "door.ts" || names === undefined) return [file];
  return importsOf(file)
    .filter((each) => each.names?.some((name) => names.includes(name)))
    .flatMap(({ from, names: given }) =>
      behindDoors(
        resolve(dirname(file), from),
        given?.filter((name: string) => names.includes(name)),
      ),
    );
}

const known = new Map<string, readonly Import[]>();

/** What a file imports or exports of others, but types. */
function importsOf(file: string): readonly Import[] {
  const before = known.get(file);
  if (before !== undefined) return before;
  const { statements } = ts.createSourceFile(
    file,
    readFileSync(file, "utf8"),
    ts.ScriptTarget.Latest,
  );
  const found = statements.flatMap((statement): Import[] => {
    const isImport = ts.isImportDeclaration(statement);
    if (!isImport && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    if (isImport ? statement.importClause?.isTypeOnly : statement.isTypeOnly) return [];
    const from = moduleSpecifier.text;
    const named = isImport ? statement.importClause?.namedBindings : statement.exportClause;
    if (named === undefined || !("elements" in named)) return [{ from, names: undefined }];
    const names = named.elements
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .map(({ name, propertyName }) => (propertyName ?? name).text);
    return names.length === 0 ? [] : [{ from, names }];
  });
  known.set(file, found);
  return found;
}
