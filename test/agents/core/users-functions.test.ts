import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isToolDenied, runAgent } from "../../../src/entries/runtime.ts";
import { settle } from "../mcp/peers.ts";
import {
  aiSdkScene,
  auditScene,
  bridgeScene,
  claudeScene,
  failOpenScene,
  type Hook,
  langChainScene,
  mastraScene,
  mcpClientScene,
  mcpServerScene,
  openAiScene,
  runtimeScene,
  type Scene,
} from "./hook-scenes.ts";

interface Given {
  readonly scene: Scene;
  /** Whether no answer is wrong, too. */
  readonly isRequired?: boolean;
  /** A function with the outcome that a wrong answer has. Default: the option is not given. */
  readonly otherwise?: Hook;
  /** Whether its answers do not count, so that none is wrong. */
  readonly isTold?: boolean;
  /** Whether any type is valid. */
  readonly isAny?: boolean;
  /** More options. */
  readonly beside?: object;
  /** Index of the first argument that is not the application's own object. */
  readonly from?: number;
}

const fails = () => {
  throw new Error("provoked");
};
/** Something to report. */
const provoked = { isTold: true, beside: { isFailure: fails } } as const;
const refused = { isRequired: true, otherwise: () => "" } as const;

/** Each option that is a function, of the public types. */
const HOOKS: Readonly<Record<string, Given>> = {
  "AiSdkTelemetryOptions.tenant": { scene: aiSdkScene, ...refused },
  "AiSdkTelemetryOptions.thread": { scene: aiSdkScene },
  "AiSdkTelemetryOptions.context": { scene: aiSdkScene },
  "AiSdkTelemetryOptions.isFailure": { scene: aiSdkScene, from: 1 },
  "AiSdkTelemetryOptions.price": { scene: aiSdkScene },
  "AiSdkTelemetryOptions.decidedBy": { scene: aiSdkScene },
  "AiSdkTelemetryOptions.onError": { scene: aiSdkScene, ...provoked },
  "MastraTelemetryOptions.tenant": { scene: mastraScene, ...refused },
  "MastraTelemetryOptions.thread": { scene: mastraScene },
  "MastraTelemetryOptions.context": { scene: mastraScene },
  "MastraTelemetryOptions.isFailure": { scene: mastraScene, from: 1 },
  "MastraTelemetryOptions.price": { scene: mastraScene },
  "MastraTelemetryOptions.decidedBy": { scene: mastraScene },
  "MastraTelemetryOptions.onError": { scene: mastraScene, ...provoked },
  "LangChainHandlerOptions.tenant": { scene: langChainScene, ...refused },
  "LangChainHandlerOptions.context": { scene: langChainScene },
  "LangChainHandlerOptions.isFailure": { scene: langChainScene, from: 1 },
  "LangChainHandlerOptions.price": { scene: langChainScene },
  "LangChainHandlerOptions.onError": { scene: langChainScene, ...provoked },
  "OpenAIAgentsProcessorOptions.tenant": { scene: openAiScene, ...refused },
  "OpenAIAgentsProcessorOptions.context": { scene: openAiScene },
  "OpenAIAgentsProcessorOptions.isFailure": { scene: openAiScene, from: 1 },
  "OpenAIAgentsProcessorOptions.price": { scene: openAiScene },
  "OpenAIAgentsProcessorOptions.decidedBy": { scene: openAiScene },
  "OpenAIAgentsProcessorOptions.onError": { scene: openAiScene, ...provoked },
  "ClaudeAgentOptions.tenant": { scene: claudeScene, ...refused },
  "ClaudeAgentOptions.context": { scene: claudeScene },
  "ClaudeAgentOptions.isFailure": { scene: claudeScene, from: 1 },
  // Without the function, the SDK's estimate counts.
  "ClaudeAgentOptions.price": { scene: claudeScene, otherwise: () => undefined },
  "ClaudeAgentOptions.decidedBy": { scene: claudeScene },
  "ClaudeAgentOptions.onError": { scene: claudeScene, ...provoked },
  "McpServerOptions.tenant": { scene: mcpServerScene, ...refused },
  "McpServerOptions.trust": { scene: mcpServerScene, isRequired: true },
  "McpServerOptions.context": { scene: mcpServerScene },
  "McpServerOptions.isFailure": { scene: mcpServerScene, from: 1 },
  "McpServerOptions.onError": { scene: mcpServerScene, ...provoked },
  "McpClientOptions.tenant": { scene: mcpClientScene, ...refused },
  "McpClientOptions.context": { scene: mcpClientScene },
  "McpClientOptions.isFailure": { scene: mcpClientScene, from: 1 },
  "McpClientOptions.onError": { scene: mcpClientScene, ...provoked },
  "RunOptions.terminalToolErrors": { scene: runtimeScene, isRequired: true },
  "RunOptions.isFailure": { scene: runtimeScene, from: 1 },
  "RunOptions.price": { scene: runtimeScene },
  "RunOptions.onError": { scene: runtimeScene, ...provoked },
  "TelemetryOptions.attributes": { scene: bridgeScene },
  "TelemetryOptions.resolveParent": { scene: bridgeScene },
  "TelemetryOptions.onError": { scene: bridgeScene, isTold: true, beside: { attributes: fails } },
  "ContentOptions.redact": {
    scene: bridgeScene,
    isAny: true,
    otherwise: () => "[redaction failed]",
  },
  "AuditSinkOptions.clock": { scene: auditScene, isRequired: true },
  "AuditSinkOptions.onError": { scene: auditScene, isTold: true, beside: { clock: fails } },
  "FailOpenOptions.onError": { scene: failOpenScene, isTold: true },
};

/** What these do is tested with the part that calls them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "RunOptions.approve": "below",
  "ToolOptions.approve": "below",
  "LangChainHandlerOptions.decidedBy": "test/agents/langchain/decisions.test.ts",
  "DroppingOptions.onDebug": "test/events/sinks",
  "BroadcastOptions.onDebug": "test/events/sinks",
  "RecorderSinkOptions.redact": "test/events/sinks",
  "RecorderSinkOptions.clock": "test/events/sinks",
  "CarrierOptions.onIgnored": "test/events/context",
  "NdjsonSessionLogOptions.onRecovered": "test/audit/ndjson-session-log.test.ts",
  "NdjsonSessionLogOptions.onError": "test/audit/ndjson-session-log.test.ts",
  "PostgresSessionLogOptions.onError": "test/audit/postgres",
  "TracingOptions.onError": "the Bridge's reporter",
  // Their errors reach the caller of the function that calls them.
  "ReadRowsOptions.onProblem": "test/audit",
  "ReadPostgresRowsOptions.onProblem": "test/audit",
  "VerifyPostgresOptions.onProblem": "test/audit",
  "VerifyOptions.onProblem": "test/audit",
  "SourceOptions.onIssue": "test/replay",
  "SourceOptions.onRejected": "awaited",
  "SourceOptions.onUnknown": "awaited",
  "PricesOptions.own": "its answer is that of `price`",
  "McpTransportOptions.onError": "test/agents/mcp/transport-hook.test.ts",
};

const later = async () => {
  throw new Error("later");
};

/** A promise of another library. */
class Thenable {
  // biome-ignore lint/suspicious/noThenProperty: it is what is tested
  then(_: unknown, failed: (error: unknown) => void) {
    failed("no");
  }
}

/** What an untyped program may give. */
const WRONG: Readonly<Record<string, Hook>> = {
  "another type": () => Symbol("wrong"),
  "a list": () => [7],
  "a promise": async () => true,
  "a promise that rejects": later,
  "a thenable": () => new Thenable(),
  "an error": fails,
};

/** Changes all that it was given, and what stands in it. */
function changeAll(given: readonly unknown[], from: number): void {
  const change = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > 1) return;
    if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      change(inner, depth + 1);
      Reflect.set(value, name, "changed");
    }
    Reflect.set(value, "more", "changed");
  };
  for (const each of given.slice(from)) change(each, 0);
}

/** Runs the scene with a hook, and counts its calls. */
async function seenWith(name: string, hook: Hook | undefined) {
  const given = HOOKS[name];
  if (given === undefined) throw new Error(`no hook ${name}`);
  const option = name.slice(name.indexOf(".") + 1);
  const selves = new Set<unknown>();
  let calls = 0;
  function counted(this: unknown, ...args: unknown[]): unknown {
    calls += 1;
    selves.add(this);
    return hook?.(...args);
  }
  const own = hook === undefined ? {} : { [option]: counted };
  const { errors, lines } = await given.scene({ ...given.beside, ...own });
  await settle();
  return { errors, lines, calls, selves: [...selves] };
}

/** What the scene reports if the hook's answer is wrong. */
const otherwise = (name: string) => seenWith(name, HOOKS[name]?.otherwise);

describe.each(Object.entries(HOOKS))("%s", (name, { from = 0, isAny, isRequired, isTold }) => {
  it.each(Object.entries(WRONG))("counts as nothing: %s", async (kind, hook) => {
    if (isAny === true && /type|list/.test(kind)) return;
    const expected = await otherwise(name);
    const seen = await seenWith(name, hook);
    expect(seen.calls).toBeGreaterThan(0);
    expect(seen.lines).toEqual(expected.lines);
    if (isTold !== true) expect(seen.errors).toHaveLength(seen.calls);
    expect(seen.selves).toEqual([undefined]);
  });

  it("may give nothing, call others, and change its arguments", async () => {
    const nothing = await seenWith(name, () => undefined);
    if (isRequired !== true && isAny !== true)
      expect(nothing.lines).toEqual((await otherwise(name)).lines);
    const isWrong = isTold !== true && isRequired === true;
    if (isTold !== true) expect(nothing.errors).toHaveLength(isWrong ? nothing.calls : 0);
    const started: Promise<unknown>[] = [];
    const changing = await seenWith(name, (...args) => {
      changeAll(args, from);
      const sink = { send() {} };
      const run = { sink, agent: "other", tenant: "other", parent: null };
      started.push(runAgent(run, (inner) => inner.tool("other", () => 1)));
    });
    await Promise.all(started);
    expect(changing.lines).toEqual(nothing.lines);
    expect(changing.errors).toHaveLength(nothing.errors.length);
  });
});

it.each(Object.keys(HOOKS).filter((name) => name.endsWith(".isFailure")))(
  "%s does not take a text for a kind",
  async (name) => {
    const seen = await seenWith(name, () => "card 4711 declined");
    expect(seen.lines).toEqual((await otherwise(name)).lines);
    expect(seen.errors).toHaveLength(seen.calls);
  },
);

describe("approve", () => {
  it.each([...Object.entries(WRONG), ["nothing", () => undefined]] as const)(
    "does not call the tool: %s",
    async (_name, hook) => {
      const approve: unknown = hook;
      for (const at of ["run", "tool"]) {
        let called = false;
        const sink = { send() {} };
        const [ofRun, ofTool] = at === "run" ? [{ approve }, {}] : [{}, { approve }];
        const run = runAgent(
          { sink, agent: "support", tenant: "acme", ...(ofRun as object) },
          (inner) =>
            inner.tool("pay", ofTool as object, () => {
              called = true;
            }),
        );
        const error = await run.then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect([called, error === undefined, isToolDenied(error)]).toEqual([false, false, false]);
      }
    },
  );
});

/** The options of `docs/api`, which is made of the declarations, that are functions. */
function documented(): string[] {
  const folder = new URL("../../../docs/api/", import.meta.url);
  const pages = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  const types = /^type (\w+)(?:<[^=]*>)? = (?:readonly [^|]*\| \()?\((?!typeof)/gm;
  const aliases = new Set(pages.flatMap((page) => [...page.matchAll(types)].map(([, of]) => of)));
  const found = new Set<string>();
  for (const page of pages) {
    let owner = "";
    for (const line of page.split("\n")) {
      owner = /^(?:interface|type|class) (\w+)/.exec(line)?.[1] ?? owner;
      const [, option, type = ""] = /readonly (\w+)\??: (.*);/.exec(line) ?? [];
      const isFunction = type.includes("=>") || type.split(/\W+/).some((of) => aliases.has(of));
      if (owner.endsWith("Options") && isFunction) found.add(`${owner}.${option}`);
    }
  }
  return [...found];
}

it("is a list of all functions in options", () => {
  const known = new Set([...Object.keys(HOOKS), ...Object.keys(ELSEWHERE)]);
  // The options of all adapters are declared once.
  for (const option of ["tenant", "context", "isFailure", "price", "decidedBy", "onError"]) {
    const tried = [...known].filter((name) => name.endsWith(`.${option}`));
    if (tried.length >= 5) known.add(`AdapterOptions.${option}`);
  }
  const all = documented();
  expect(all.length).toBeGreaterThan(40);
  expect(all.filter((name) => !known.has(name))).toEqual([]);
});
