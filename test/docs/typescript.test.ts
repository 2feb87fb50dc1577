import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import {
  ENTRIES,
  notUndefined,
  OF_READING,
  optionsOf,
  undocumented,
  unnameable,
} from "./exports.ts";
import { codeBlocks, PAGES, ROOT, readPage, tableRows } from "./pages.ts";

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

/** The package's entries, and all snippets as its users would compile them; nothing is written. */
function programOf(texts: ReadonlyMap<string, string>): ts.Program {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
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
  return ts.createProgram({
    rootNames: [...ENTRIES, ...texts.keys()],
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
}

// One program for both: reading and binding the source takes most of the time.
const texts = new Map(snippets.map(({ file, text }) => [file, text]));
const program = programOf(texts);
const checker = program.getTypeChecker();

describe("the TypeScript of the pages", () => {
  it("compiles", () => {
    expect(snippets.length).toBeGreaterThan(15);
    const found = [...texts.keys()].flatMap((file) => {
      const source = program.getSourceFile(file);
      return [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ];
    });
    const problems = found.map(({ file, messageText }) => {
      const { name } = snippets.find((snippet) => snippet.file === file?.fileName) ?? {};
      return `${name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
    expect(problems).toEqual([]);
  });
});

describe("the public interface", () => {
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

/** Where an option can be set, as docs/where-to-set.md says it: the entry, and its interface. */
const PLACES: Readonly<Record<string, readonly [entry: string, name: string]>> = {
  setup: ["entries/setup", "TracingOptions"],
  setupTelemetry: ["entries/telemetry", "TelemetrySetupOptions"],
  bridge: ["index", "BridgeOptions"],
  runAgent: ["entries/runtime", "RunOptions"],
  "run.tool": ["entries/runtime", "ToolOptions"],
  "run.model": ["entries/runtime", "ModelOptions"],
  "run.step": ["entries/runtime", "StepOptions"],
  LangChain: ["entries/langchain", "LangChainHandlerOptions"],
  "OpenAI Agents": ["entries/openai-agents", "OpenAIAgentsProcessorOptions"],
  "AI SDK": ["entries/ai-sdk", "AiSdkTelemetryOptions"],
  Mastra: ["entries/mastra", "MastraTelemetryOptions"],
  "Claude Agent": ["entries/claude-agent", "ClaudeAgentOptions"],
  "MCP server": ["entries/mcp", "McpServerOptions"],
  "MCP client": ["entries/mcp", "McpClientOptions"],
};
const ADAPTERS = ["LangChain", "OpenAI Agents", "AI SDK", "Mastra", "Claude Agent", "MCP server"];

describe("docs/where-to-set.md", () => {
  const rows = tableRows(readPage("docs/where-to-set.md"))
    .filter((row) => row.length === 4)
    .map(([, option = "", of = "", variable = ""]) => {
      const places = of.split(", ").flatMap((one) => (one === "adapters" ? ADAPTERS : [one]));
      return { option, places, variable };
    });

  const declared = (place: string): string[] => {
    const [entry, name] = PLACES[place] ?? ["", ""];
    return optionsOf(checker, program.getSourceFile(join(ROOT, `src/${entry}.ts`)), name);
  };

  it.each(Object.keys(PLACES))("%s: has its options and no others", (place) => {
    const ofSetup = place === "setupTelemetry" ? declared("setup") : [];
    const written = rows.filter(({ places }) => places.includes(place));
    expect([...new Set(written.map(({ option }) => option))].toSorted()).toEqual(
      declared(place)
        .filter((option) => !ofSetup.includes(option))
        .toSorted(),
    );
  });

  it("names only those places, and variables that are read", () => {
    expect(rows.length).toBeGreaterThan(80);
    const strange = rows.flatMap(({ places }) => places.filter((place) => !PLACES[place]));
    expect(strange).toEqual([]);
    const known = readPage("docs/environment.md");
    const named = rows.flatMap(({ variable }) => variable.split(",")[0] || []);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((variable) => !known.includes(`\`${variable}\``))).toEqual([]);
  });
});
