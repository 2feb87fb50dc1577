import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { codeBlocks, PAGES, ROOT, readPage } from "./pages.ts";

/** What a page may leave to the reader. */
const READERS_OWN = `
declare const agent: {
  addSink(sink: import("entelix-otel").AgentEventSink): void;
  run(prompt: string): Promise<unknown>;
};
`;

const PLACE = join(ROOT, "test/docs/snippets");

interface Snippet {
  /** Page and number of the block in it, from 1. */
  readonly name: string;
  readonly file: string;
  readonly text: string;
}

const snippets: readonly Snippet[] = PAGES.flatMap((page) =>
  codeBlocks(readPage(page))
    .filter(({ language }) => language === "ts")
    .map(({ text }, at) => ({
      name: `${page} ${at + 1}`,
      file: join(PLACE, `${page.replaceAll(/\W/g, "-")}-${at + 1}.ts`),
      // Each is a module of its own, also one without imports.
      text: `${text}${text.includes("const agent") ? "" : READERS_OWN}export {};\n`,
    })),
);

/** Compiles all snippets at once, as the package's users would; nothing is written. */
function compile(): readonly ts.Diagnostic[] {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const texts = new Map(snippets.map(({ file, text }) => [file, text]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = texts.get(file);
    return text === undefined
      ? getSourceFile(file, version, ...rest)
      : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram({
    rootNames: [...texts.keys()],
    options: {
      ...options,
      // A page shows what matters, not a whole program.
      noUnusedLocals: false,
      noUnusedParameters: false,
      paths: {
        "entelix-otel": [join(ROOT, "src/index.ts")],
        "entelix-otel/*": [join(ROOT, "src/entries/*.ts")],
      },
    },
    host,
  });
  return [...texts.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
}

describe("the TypeScript of the pages", () => {
  it("compiles", () => {
    expect(snippets.length).toBeGreaterThan(15);
    const problems = compile().map(({ file, messageText }) => {
      const { name } = snippets.find((snippet) => snippet.file === file?.fileName) ?? {};
      return `${name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
    expect(problems).toEqual([]);
  });
});
