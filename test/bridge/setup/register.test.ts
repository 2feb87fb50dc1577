import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { listening } from "../../support/listening.ts";
import { OtlpServer, type OtlpServerOptions } from "../../support/otlp-server.ts";
import { wireTree } from "../../support/wire-tree.ts";
import { type BuiltEnding, runNode } from "./built-program.ts";

const PROGRAMS = join(import.meta.dirname, "register-programs");

let server: OtlpServer | undefined;
afterEach(() => server?.close());

/** Runs a program that does not know this package, which is registered from outside. */
async function run(
  program: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  options: OtlpServerOptions & { readonly flag?: string } = {},
): Promise<BuiltEnding & { readonly spans: OtlpServer["spans"] }> {
  const receiver = await OtlpServer.start(options);
  server = receiver;
  const ending = await runNode(
    [options.flag ?? "--import", "entelix-otel/register", join(PROGRAMS, program), ...args],
    { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: "shop", ...env },
    (output) => output.includes("waits"),
  );
  return { ...ending, spans: receiver.spans };
}

const names = (spans: OtlpServer["spans"]) => spans.map(({ name }) => name).sort();
const GRAPH = ["chat FakeListChatModel", "invoke_agent support", "step agent"];

describe("node --import entelix-otel/register", () => {
  it("reports LangChain, says so once, and leaves output and exit code as they are", async () => {
    const { code, err, out, spans } = await run("langchain.mjs", [], { ENTELIX_TENANT: "acme" });
    expect({ code, out }).toEqual({ code: 3, out: "done\n" });
    expect(err).toBe("entelix-otel: reports OpenAI Agents, LangChain, tenant acme\n");
    expect(names(spans)).toEqual(GRAPH);
    const [span] = spans;
    expect(span?.resource["service.name"]).toBe("shop");
    expect(span?.attributes["entelix.tenant_id"]).toBe("acme");
    expect(JSON.stringify(spans)).not.toContain("question-mark");
  });

  it("gives model calls a cost by the list of prices, if it is asked to", async () => {
    const costs = async (env: Readonly<Record<string, string>>) => {
      const { err, spans } = await run("priced.mjs", [], env);
      await server?.close();
      const calls = spans.filter(({ name }) => name.startsWith("chat "));
      return {
        err,
        costs: calls.map(({ attributes, name }) => [name, attributes["entelix.model.cost"]]),
      };
    };
    const line = "entelix-otel: reports OpenAI Agents, LangChain, tenant default\n";
    expect(await costs({ ENTELIX_PRICES: "true" })).toEqual({
      err: line,
      costs: [
        ["chat gpt-4o-mini", "0.00021"],
        ["chat small-1", undefined],
      ],
    });
    expect(await costs({})).toEqual({
      err: line,
      costs: [
        ["chat gpt-4o-mini", undefined],
        ["chat small-1", undefined],
      ],
    });
  });

  it("says which of its variables it does not read", async () => {
    const { err, spans } = await run("langchain.mjs", [], {
      ENTELIX_TENNANT: "acme",
      ENTELIX_HANDLE_SIGNAL: "true",
      ENTELIX_USER: "u1",
      ENTELIX_THREAD_ID: "t1",
    });
    expect(err.split("\n")).toEqual([
      "entelix-otel: ENTELIX_TENNANT is not read: did you mean ENTELIX_TENANT?",
      "entelix-otel: ENTELIX_HANDLE_SIGNAL is not read: did you mean ENTELIX_HANDLE_SIGNALS?",
      "entelix-otel: ENTELIX_USER is not read: see docs/register.md",
      "entelix-otel: reports OpenAI Agents, LangChain, tenant default",
      "",
    ]);
    expect(names(spans)).toEqual(GRAPH);
  });

  it("shows content where the variable says so", async () => {
    const { spans } = await run("langchain.mjs", [], {
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    });
    expect(JSON.stringify(spans)).toContain("question-mark");
  });

  it.each(["--import", "--require"])("reports a program in CommonJS, with %s", async (flag) => {
    const { out, spans } = await run("langchain.cjs", [], {}, { flag });
    expect(out).toBe("done\n");
    expect(names(spans)).toEqual(GRAPH);
  });

  // The SDK's own exporter prints what it exports, after the program.
  const firstLine = (out: string) => out.split("\n")[0];

  it.each([[], ["others"]])(
    "reports OpenAI Agents, also where others are set: %s",
    async (...args) => {
      const { out, spans } = await run("openai-agents.mjs", args);
      expect(firstLine(out)).toBe("yes 0");
      expect(names(spans)).toEqual(["chat small-1", "invoke_agent A"]);
    },
  );

  it("does nothing where the application registers by hand", async () => {
    const agents = await run("openai-agents.mjs", ["by-hand"]);
    expect([firstLine(agents.out), agents.spans]).toEqual(["yes 1", []]);
    await server?.close();
    const chain = await run("langchain-by-hand.mjs");
    expect([chain.out, chain.spans]).toEqual(["1\n", []]);
  });

  it("gives the spans to the application's own provider", async () => {
    const { out, spans } = await run("own-provider.mjs");
    expect(out).toBe("[ 'chat FakeListChatModel', 'invoke_agent FakeListChatModel' ]\n");
    expect(spans).toEqual([]);
  });

  it("does nothing with OTEL_SDK_DISABLED", async () => {
    const { code, err, out, spans } = await run("langchain.mjs", [], { OTEL_SDK_DISABLED: "true" });
    expect({ code, err, out, spans }).toEqual({ code: 3, err: "", out: "done\n", spans: [] });
  });

  it("gives spans the names that ENTELIX_CONVENTIONS asks for", async () => {
    const { spans } = await run("langchain.mjs", [], { ENTELIX_CONVENTIONS: "openinference" });
    const kinds = spans.map(({ attributes }) => attributes["openinference.span.kind"]);
    expect(kinds.toSorted()).toEqual(["AGENT", "CHAIN", "LLM"]);
    expect(spans.filter(({ attributes }) => "gen_ai.operation.name" in attributes)).toEqual([]);
    const { err } = await run("langchain.mjs", [], { ENTELIX_CONVENTIONS: "x" });
    expect(err).toContain('ENTELIX_CONVENTIONS: expected genai, openinference, both, got "x"');
  });

  it("enables what ENTELIX_REGISTER names, and starts the program if it names nothing known", async () => {
    const one = await run("langchain.mjs", [], { ENTELIX_REGISTER: "openai-agents" });
    expect([one.err, one.spans]).toEqual([
      "entelix-otel: reports OpenAI Agents, tenant default\n",
      [],
    ]);
    await server?.close();
    const wrong = await run("langchain.mjs", [], { ENTELIX_REGISTER: "autogen" });
    expect([wrong.code, wrong.out, wrong.spans]).toEqual([3, "done\n", []]);
    expect(wrong.err).toBe(
      'entelix-otel: nothing is reported: TypeError: ENTELIX_REGISTER: expected ai-sdk, openai-agents, langchain, separated by commas, got "autogen"\n',
    );
  });

  it.each([
    [
      "langchain-http.mjs",
      [
        "invoke_agent agent",
        "  step agent",
        "    chat Model",
        "      GET /model",
        "  step tools",
        "    execute_tool look",
        "      GET /tool",
        "  step agent",
        "    chat Model",
        "      GET /model",
        "invoke_agent streams",
        "  step agent",
        "    chat Streaming",
        "      GET /model",
      ],
    ],
    [
      "openai-agents-http.mjs",
      [
        "invoke_agent A",
        "  chat",
        "    GET /model",
        "  execute_tool look",
        "    GET /tool",
        "  chat",
        "    GET /model",
      ],
    ],
  ])("has the requests of stock instrumentation below their calls: %s", async (program, tree) => {
    await using shop = await listening();
    const { spans } = await run(program, [shop.url]);
    expect(wireTree(spans)).toEqual(tree);
  });

  it.each([
    ["ENTELIX_HANDLE_SIGNALS", "wait", null, "SIGTERM"],
    ["ENTELIX_HANDLE_ERRORS", "throw", 1, null],
  ] as const)("delivers with %s, where the program ends by it", async (name, way, code, signal) => {
    const args = [way];
    const off = await run("ends.mjs", args);
    expect([off.code, off.signal, off.spans]).toEqual([code, signal, []]);
    await server?.close();
    const on = await run("ends.mjs", args, { [name]: "true" });
    expect([on.code, on.signal, names(on.spans)]).toEqual([code, signal, GRAPH]);
    expect(on.err.includes("Error: no such order")).toBe(way === "throw");
    await server?.close();
    const wrong = await run("ends.mjs", args, { [name]: "yes" });
    expect(wrong.err).toContain(`TypeError: ${name}: expected true or false, got "yes"`);
  });

  it("names the frameworks of the application that need code, and their pages", async () => {
    const folder = await mkdtemp(join(tmpdir(), "entelix-otel-register-"));
    const install = async (name: string, version: string) => {
      const path = join(folder, "node_modules", name);
      await mkdir(path, { recursive: true });
      await writeFile(join(path, "package.json"), JSON.stringify({ name, version }));
    };
    const said = async (dependencies: Readonly<Record<string, string>>) => {
      await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies }));
      const { code, err, out } = await run(relative(PROGRAMS, join(folder, "app.mjs")));
      await server?.close();
      expect([code, out]).toEqual([0, "works\n"]);
      return err;
    };
    try {
      await writeFile(join(folder, "app.mjs"), 'console.log("works");\n');
      // Only another package needs it.
      await install("@modelcontextprotocol/sdk", "1.32.2");
      await install("@mastra/core", "1.71.0");
      await install("ai", "6.0.3");
      const none = "entelix-otel: none of the frameworks is installed that it can report";
      const needed = ". These need code: AI SDK 6 (docs/ai-sdk.md), Mastra (docs/mastra.md)\n";
      expect(await said({})).toBe(`${none}\n`);
      expect(await said({ "@mastra/core": "1", ai: "6" })).toBe(none + needed);
      await install("ai", "7.0.0");
      expect(await said({ ai: "7", "@modelcontextprotocol/sdk": "1" })).toBe(
        "entelix-otel: reports AI SDK, tenant default. These need code: MCP (docs/mcp.md)\n",
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("sends nothing for a program without agents", async () => {
    const { out } = await run("plain.mjs");
    expect(out).toBe("plain\n");
    expect(server?.requests).toEqual([]);
  });

  it("lets the process end while the receiver does not answer", async () => {
    const { code, out } = await run("langchain.mjs", [], {}, { answer: () => "hang" });
    expect({ code, out }).toEqual({ code: 3, out: "done\n" });
  });
});
