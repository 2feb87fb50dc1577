// The declarations of every entry, as they are shipped: the API reference, and the report that shows in review what a
// change does to the public interface. It reads `dist`, so build first.
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns the text of each page of `docs/api`, by its name. */
export function apiPages() {
  const files = Object.values(manifest.exports)
    .map((entry) => entry.import?.types)
    .filter((types) => types !== undefined)
    .map((types) => join(root, types));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    noEmit: true,
    types: ["node"],
  });
  const missing = files.filter((file) => program.getSourceFile(file) === undefined);
  if (missing.length > 0) throw new Error(`expected ${missing.join(", ")}: npm run build first`);
  return new Map(files.map((file) => [nameOf(file), page(program, file)]));
}

function nameOf(file) {
  return basename(file, ".d.mts");
}

function page(program, file) {
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(file));
  const exported = checker.getExportsOfModule(symbol).map((alias) => {
    const target = alias.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(alias) : alias;
    return { name: alias.name, texts: (target.declarations ?? []).map(textOf) };
  });
  const name = nameOf(file);
  const [source, entry] =
    name === "index" ? ["src/index.ts", ""] : [`src/entries/${name}.ts`, `/${name}`];
  return [
    `<!-- Generated from ${source}: change the code, then npm run build && npm run docs. -->`,
    "",
    `# \`entelix-otel${entry}\``,
    "",
    ...exported
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ name: of, texts }) => [`## ${of}`, "", ...shown(texts.join("\n")), ""]),
  ].join("\n");
}

/** Declarations with more lines are folded, so that a page can be looked through. */
const MOST_LINES = 10;

function shown(text) {
  const block = ["```typescript", text, "```"];
  const lines = text.split("\n").length;
  return lines <= MOST_LINES
    ? block
    : ["<details>", `<summary>${lines} lines</summary>`, "", ...block, "", "</details>"];
}

/** The declaration as it was emitted, its docstring included. */
function textOf(declaration) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const text = statement.getFullText().replace(/^\s*\/\/#(?:end)?region.*$/gm, "");
  return text.trim();
}
