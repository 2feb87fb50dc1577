import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  Bridge,
  capturesByEnvironment,
  isRegistered,
  type Tracing,
  type TracingOptions,
} from "../../bridge/door.ts";
import type { InnerSink } from "../../events/door.ts";
import { fieldIn } from "../core/narrow.ts";
import { AgentSink } from "./agent-sink.ts";
import { enableAiSdk } from "./ai-sdk.ts";
import { enableLangChain } from "./langchain.ts";
import { enableOpenAIAgents } from "./openai-agents.ts";

/**
 * Time for the last spans when the process has nothing else to do, in ms, and then for the last metrics: 2 s in all.
 * The exporter of metrics can't be told to give up, so its own time limit is this.
 */
const FLUSH_MS = 1_000;
const METRICS_TIMEOUT_MS = "1000";
const METRICS_TIMEOUT = "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT";

/** The frameworks, by the names that `ENTELIX_REGISTER` has for them. */
const FRAMEWORKS = ["ai-sdk", "openai-agents", "langchain"] as const;

/** What `ENTELIX_*` variables say; blank values count as unset. */
export interface RegisterSettings {
  readonly tenant: string;
  readonly frameworks: ReadonlySet<string>;
  /** Whether spans show content. */
  readonly captures: boolean;
}

/** @throws TypeError when a variable has a value that it can't have. */
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
  };
}

/** Ends what was set up, in at most its time. */
export type Shutdown = () => Promise<void>;

/** Makes the sink of a process. */
type Setup = () => { readonly sink: InnerSink; readonly shutdown: Shutdown };

/**
 * Enables what can be reached without code of the application.
 *
 * @param entry the application's first file; `undefined` in a shell.
 * @returns one line that says what was enabled.
 */
export function register(settings: RegisterSettings, entry: string | undefined): string {
  const setup = findSetup();
  if (setup === undefined) {
    const missing = "@opentelemetry/sdk-trace-node and @opentelemetry/exporter-trace-otlp-http";
    return `nothing is reported: ${missing} are not installed`;
  }
  const sink = new AgentSink(settings.captures ? "all" : "tools", () => {
    const made = setup();
    flushAtEnd(made.shutdown);
    return made.sink;
  });
  const { frameworks, tenant } = settings;
  const enabled: string[] = [];
  const enable = (name: (typeof FRAMEWORKS)[number], title: string, packageName: string) => {
    if (!frameworks.has(name)) return;
    if (name === "ai-sdk") enableAiSdk(sink, tenant);
    else if (name === "openai-agents") enableOpenAIAgents(sink, tenant);
    else if (entry === undefined || !enableLangChain(sink, tenant, entry)) return;
    if (isInstalled(packageName, entry)) enabled.push(title);
  };
  enable("ai-sdk", "AI SDK", "ai");
  enable("openai-agents", "OpenAI Agents", "@openai/agents-core");
  enable("langchain", "LangChain", "@langchain/core");
  if (enabled.length === 0) return "none of the frameworks is installed that it can report";
  return `reports ${enabled.join(", ")}, tenant ${tenant}`;
}

/** With metrics where their packages are installed. */
function findSetup(): Setup | undefined {
  const make =
    setupIn("entelix-otel/telemetry", "setupTelemetry") ??
    setupIn("entelix-otel/setup", "setupTracing");
  if (make === undefined) return undefined;
  return () => {
    // The application has set up OpenTelemetry itself: its provider gets the spans.
    if (isRegistered("trace")) {
      const bridge = new Bridge();
      return { sink: bridge, shutdown: () => bridge.shutdown() };
    }
    const made = withMetricsTimeout(() => make({ shutdownTimeoutMs: FLUSH_MS }));
    return { sink: made.createBridge(), shutdown: () => made.shutdown() };
  };
}

/** The exporter reads its time limit from the environment alone; what is set there stays. */
function withMetricsTimeout<T>(make: () => T): T {
  const { env } = process;
  if (env[METRICS_TIMEOUT] ?? env.OTEL_EXPORTER_OTLP_TIMEOUT) return make();
  env[METRICS_TIMEOUT] = METRICS_TIMEOUT_MS;
  try {
    return make();
  } finally {
    delete env[METRICS_TIMEOUT];
  }
}

/** An entry of this package needs packages that may not be installed. */
function setupIn(entry: string, name: string) {
  try {
    const found: unknown = fieldIn(createRequire(import.meta.url)(entry), name);
    return isSetup(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isSetup(value: unknown): value is (options: TracingOptions) => Tracing {
  return typeof value === "function";
}

function isInstalled(packageName: string, entry: string | undefined): boolean {
  let folder = entry === undefined ? process.cwd() : dirname(entry);
  for (;;) {
    if (existsSync(join(folder, "node_modules", packageName))) return true;
    const above = dirname(folder);
    if (above === folder) return false;
    folder = above;
  }
}

/** Sends what waits when the process has nothing else to do. `process.exit` does not wait for it. */
function flushAtEnd(shutdown: Shutdown): void {
  process.once("beforeExit", () => void shutdown());
}
