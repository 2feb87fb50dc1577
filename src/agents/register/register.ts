import { createRequire } from "node:module";
import { join } from "node:path";
import {
  Bridge,
  beforeProcessEnds,
  CONVENTIONS,
  type Conventions,
  capturesByEnvironment,
  type EndOptions,
  isRegistered,
  type Tracing,
  type TracingOptions,
  within,
} from "../../bridge/door.ts";
import { type InnerSink, nearest } from "../../events/door.ts";
import { fieldIn } from "../core/door.ts";
import type { Price } from "../runtime/door.ts";
import { AgentSink } from "./agent-sink.ts";
import { enableAiSdk } from "./ai-sdk.ts";
import { enableLangChain } from "./langchain.ts";
import { enableOpenAIAgents } from "./openai-agents.ts";
import { isAiSdk6, nearestWith, needCode } from "./unreported.ts";

/** Maximum time for the last spans and metrics at the end of the process, in ms. */
const FLUSH_MS = 2_000;

/** Names of frameworks in `ENTELIX_REGISTER`. */
const FRAMEWORKS = ["ai-sdk", "openai-agents", "langchain"] as const;

/** Settings from `ENTELIX_*` variables. Blank values count as unset. */
export interface RegisterSettings {
  readonly tenant: string;
  readonly frameworks: ReadonlySet<string>;
  /** Whether spans show content. */
  readonly captures: boolean;
  /** The ends of the process at which the last data is sent, beside its normal end. */
  readonly ends: EndOptions;
  /** Names of attributes on spans. */
  readonly conventions: Conventions;
  /** Whether costs are estimated by the list of `entelix-otel/prices`. */
  readonly prices: boolean;
}

/** @throws TypeError when a variable has an invalid value. */
export function registerSettings(env: NodeJS.ProcessEnv): RegisterSettings | undefined {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return undefined;
  const named = (env.ENTELIX_REGISTER ?? "").split(",").map((name) => name.trim());
  const frameworks = named.filter((name) => name !== "");
  for (const name of frameworks) {
    if (FRAMEWORKS.some((known) => known === name)) continue;
    throw new TypeError(
      `ENTELIX_REGISTER: expected ${FRAMEWORKS.join(", ")}, separated by commas, got ${JSON.stringify(name)}`,
    );
  }
  return {
    tenant: env.ENTELIX_TENANT?.trim() || "default",
    frameworks: new Set(frameworks.length === 0 ? FRAMEWORKS : frameworks),
    captures: capturesByEnvironment(env),
    ends: {
      handleSignals: switchIn(env, "ENTELIX_HANDLE_SIGNALS"),
      handleErrors: switchIn(env, "ENTELIX_HANDLE_ERRORS"),
    },
    conventions: conventionsIn(env),
    prices: switchIn(env, "ENTELIX_PRICES"),
  };
}

const PREFIX = "ENTELIX_";

/** Variables with this prefix that `register` reads. */
const OWN = ["TENANT", "REGISTER", "CONVENTIONS", "HANDLE_SIGNALS", "HANDLE_ERRORS", "PRICES"];

/** Those that other parts of this package read. */
const OTHERS = [
  "ENTELIX_ROOT_RUN_ID",
  "ENTELIX_PARENT_RUN_ID",
  "ENTELIX_PARENT_TOOL_USE_ID",
  "ENTELIX_THREAD_ID",
  "ENTELIX_OTEL_DEBUG",
  "ENTELIX_KAFKA_USERNAME",
  "ENTELIX_KAFKA_PASSWORD",
  "ENTELIX_KAFKA_TOKEN",
  "ENTELIX_SERVE_TOKEN",
];

/** A line for each variable of this package's prefix that nothing reads. */
export function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  for (const variable of Object.keys(env)) {
    const name = variable.slice(PREFIX.length);
    if (!variable.startsWith(PREFIX) || OWN.includes(name) || OTHERS.includes(variable)) continue;
    const meant = nearest(name, OWN);
    const advice = meant === undefined ? "see docs/register.md" : `did you mean ${PREFIX}${meant}?`;
    lines.push(`${variable} is not read: ${advice}`);
  }
  return lines;
}

/** @throws TypeError unless the variable is `true`, `false` or blank. */
function switchIn(env: NodeJS.ProcessEnv, name: string): boolean {
  const text = env[name]?.trim().toLowerCase() ?? "";
  if (text === "true") return true;
  if (text === "" || text === "false") return false;
  throw new TypeError(`${name}: expected true or false, got ${JSON.stringify(text)}`);
}

/** `ENTELIX_CONVENTIONS`. */
function conventionsIn(env: NodeJS.ProcessEnv): Conventions {
  const text = env.ENTELIX_CONVENTIONS?.trim() || "genai";
  const known = CONVENTIONS.find((each) => each === text);
  if (known !== undefined) return known;
  const expected = CONVENTIONS.join(", ");
  throw new TypeError(`ENTELIX_CONVENTIONS: expected ${expected}, got ${JSON.stringify(text)}`);
}

/** Creates the sink of a process, which shuts down by itself at the end of the process. */
type Setup = (ends: EndOptions) => InnerSink;

/**
 * Enables the frameworks that work without code of the application.
 *
 * @param entry the application's first file. `undefined` in a shell.
 * @returns one line with the enabled frameworks, or the reason why there are none.
 */
export function register(settings: RegisterSettings, entry: string | undefined): string {
  const setup = findSetup(settings.conventions);
  if (setup === undefined) {
    return "nothing is reported: npm install @opentelemetry/sdk-trace @opentelemetry/resources";
  }
  const sink = new AgentSink(settings.captures ? "all" : "tools", () => setup(settings.ends));
  const { frameworks, prices, tenant } = settings;
  const price = prices ? priceOf() : undefined;
  const reporting = { sink, tenant, price };
  const hasAiSdk6 = isAiSdk6(entry);
  const enabled: string[] = [];
  const enable = (name: (typeof FRAMEWORKS)[number], title: string, packageName: string) => {
    if (!frameworks.has(name)) return;
    if (name === "ai-sdk") enableAiSdk(reporting);
    else if (name === "openai-agents") enableOpenAIAgents(reporting);
    else if (entry === undefined || !enableLangChain(reporting, entry)) return;
    if (name === "ai-sdk" && hasAiSdk6) return;
    if (nearestWith(join("node_modules", packageName), entry) !== undefined) enabled.push(title);
  };
  enable("ai-sdk", "AI SDK", "ai");
  enable("openai-agents", "OpenAI Agents", "@openai/agents-core");
  enable("langchain", "LangChain", "@langchain/core");
  const unreported = needCode(entry, hasAiSdk6);
  const others = unreported.length === 0 ? "" : `. These need code: ${unreported.join(", ")}`;
  if (enabled.length === 0) {
    return `none of the frameworks is installed that it can report${others}`;
  }
  const costs = prices && price === undefined ? `, no costs: ${NO_PRICES}` : "";
  return `reports ${enabled.join(", ")}, tenant ${tenant}${costs}${others}`;
}

const NO_PRICES = "npm install @pydantic/genai-prices";

/** The prices of `entelix-otel/prices`. `undefined`: the package of the list is not installed. */
function priceOf(): Price | undefined {
  const prices = entryIn("entelix-otel/prices", "prices");
  return isPrices(prices) ? prices() : undefined;
}

function isPrices(value: unknown): value is () => Price {
  return typeof value === "function";
}

/** Includes metrics if their packages are installed. */
function findSetup(conventions: Conventions): Setup | undefined {
  const make =
    setupIn("entelix-otel/telemetry", "setupTelemetry") ??
    setupIn("entelix-otel/setup", "setupTracing");
  if (make === undefined) return undefined;
  return (ends) => {
    // The application set up OpenTelemetry itself, so its provider gets the spans.
    if (isRegistered("trace")) {
      const bridge = new Bridge({ conventions });
      beforeProcessEnds(() => within(FLUSH_MS, bridge.shutdown()), ends);
      return bridge;
    }
    return make({ conventions, shutdownTimeoutMs: FLUSH_MS, ...ends }).createBridge();
  };
}

function setupIn(entry: string, name: string) {
  const found = entryIn(entry, name);
  return isSetup(found) ? found : undefined;
}

/** Loads an entry of this package, whose dependencies may not be installed. */
function entryIn(entry: string, name: string): unknown {
  try {
    return fieldIn(createRequire(import.meta.url)(entry), name);
  } catch {
    return undefined;
  }
}

function isSetup(value: unknown): value is (options: TracingOptions) => Tracing {
  return typeof value === "function";
}
