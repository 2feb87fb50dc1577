import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { LangChainHandler } from "../../../src/agents/langchain/handler.ts";
import { claudeAgent } from "../../../src/entries/claude-agent.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { Bridge } from "../../../src/index.ts";

type Options = Readonly<Record<string, unknown>>;
const common = { sink: { send: () => {} }, tenant: "acme" };
const bridge = (options: Options) => void new Bridge(options);
const run = (options: Options) => runAgent({ ...common, agent: "a", ...options }, async () => 1);
const logger = { getLogger: () => ({ emit: () => {} }) };

async function* noBytes(): AsyncGenerator<Uint8Array> {}

interface Given {
  readonly give: (options: Options) => unknown;
  readonly typo: string;
  readonly meant: string;
  /** More options beside the wrong one. */
  readonly beside?: Options;
}

/** Each option of the public types that has options of its own. */
const NESTED: Readonly<Record<string, Given>> = {
  "TelemetryOptions.metrics": { give: bridge, typo: "tenant", meant: "tenants" },
  "TelemetryOptions.limits": { give: bridge, typo: "openRun", meant: "openRuns" },
  "TelemetryOptions.loops": { give: bridge, typo: "pingpong", meant: "pingPong" },
  "TelemetryOptions.progress": {
    give: bridge,
    typo: "everyMS",
    meant: "everyMs",
    beside: { loggerProvider: logger },
  },
  "RunOptions.budget": { give: run, typo: "costUSD", meant: "costUsd" },
  "RunOptions.loops": { give: run, typo: "pols", meant: "poll" },
  "LangChainHandlerOptions.limits": {
    give: (options) => new LangChainHandler({ ...common, ...options }),
    typo: "pausedThread",
    meant: "pausedThreads",
  },
  "ReadEventsOptions.window": {
    give: (options) =>
      readEvents(noBytes(), { dialects: [entelixDialect], onEvent: () => {}, ...options }),
    typo: "maxsize",
    meant: "maxSize",
  },
  "ClaudeAgentOptions.limits": {
    give: (options) => claudeAgent({ ...common, ...options }),
    typo: "session",
    meant: "sessions",
  },
};

const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
afterEach(() => emitted.mockClear());

it.each(Object.entries(NESTED))(
  "a wrong name in %s is reported once, with its path",
  async (name, given) => {
    const option = name.split(".")[1] ?? "";
    const { beside, give, meant, typo } = given;
    for (let n = 0; n < 2; n += 1) await give({ [option]: { ...beside, [typo]: 5 } });
    expect(emitted.mock.calls.map(([message]) => message)).toEqual([
      `entelix-otel: unknown option \`${option}.${typo}\`: did you mean \`${option}.${meant}\`?`,
    ]);
  },
);

it("right names and values without names are not reported", async () => {
  bridge({ metrics: false, loops: false });
  bridge({ metrics: { tenants: 1 }, limits: { openRuns: 1 }, loops: { repeat: 3 } });
  await run({ budget: { costUsd: "1" }, loops: { poll: 3 } });
  expect(emitted).not.toHaveBeenCalled();
  expect(() => bridge({ limits: [] })).toThrow("limits: expected an object, got a list");
});

/** The options of `docs/api`, which is made of the declarations, whose type is an object of options. */
function documented(): string[] {
  const folder = new URL("../../../docs/api/", import.meta.url);
  const found = new Set<string>();
  for (const page of readdirSync(folder)) {
    let owner = "";
    for (const line of readFileSync(new URL(page, folder), "utf8").split("\n")) {
      owner = /^(?:interface|type|class) (\w+)/.exec(line)?.[1] ?? owner;
      const [, option, type = ""] = /readonly (\w+)\??: (.*);/.exec(line) ?? [];
      const isObject = !type.includes("=>") && /\w(?:Options|Limits)\b/.test(type);
      if (/(?:Options|Limits)$/.test(owner) && isObject) found.add(`${owner}.${option}`);
    }
  }
  return [...found];
}

it("is a list of all options that have options of their own", () => {
  expect(documented().sort()).toEqual(Object.keys(NESTED).sort());
});
