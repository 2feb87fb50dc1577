import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ROOT_CONTEXT } from "@opentelemetry/api";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-node";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { namedPorts } from "./support/free-ports.ts";
import { traceId } from "./support/fresh-ids.ts";
import { fetchText } from "./support/http.ts";
import { ServerProcess } from "./support/server-process.ts";
import { Stack } from "./support/stack.ts";
import { type StoredSpan, treesOf } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

const program = (file: string) => fileURLToPath(new URL(`programs/${file}`, import.meta.url));

/** Run ids of version 7 that are the same in every run of this test. */
const RUNS = Array.from({ length: 120 }, (_, index) => {
  const random = Uint8Array.from({ length: 16 }, (_, byte) => (index * 131 + byte * 89 + 7) % 256);
  return v7({ msecs: Date.UTC(2026, 0, 1) + index * 977, seq: index * 40_503_001, random });
});

const AGENT_RATIO = 0.1;
const sampler = new TraceIdRatioBasedSampler(AGENT_RATIO);
const sampled = (run: string) =>
  sampler.shouldSample(ROOT_CONTEXT, traceId(run)).decision === SamplingDecision.RECORD_AND_SAMPLED;
const KEPT = RUNS.filter(sampled);
const DROPPED = RUNS.filter((run) => !sampled(run));

describe.each([
  { name: "parentbased_traceidratio", ratio: "0.1", keeps: "sampled" },
  { name: "traceidratio", ratio: "0.1", keeps: "none" },
  { name: "traceidratio", ratio: "0.75", keeps: "all" },
] as const)("a Python service behind a tool call, $name at $ratio, agent at 10 %,", (service) => {
  let stack: Stack;
  let server: ServerProcess;

  /** The service's spans of a run, by name. */
  const downstream = (spans: readonly StoredSpan[]) =>
    spans.filter((span) => span.resource["service.name"] === "lookup-service");

  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector"], jaegerStorage: "memory" });
    const port = (await namedPorts(["service"]))("service");
    const url = `http://127.0.0.1:${port}/lookup`;
    server = new ServerProcess({
      name: "downstream",
      program: inject("serverPaths")["opentelemetry-python"] ?? "",
      args: [program("downstream.py"), String(port)],
      env: {
        OTEL_SERVICE_NAME: "lookup-service",
        OTEL_EXPORTER_OTLP_ENDPOINT: stack.endpoint,
        OTEL_TRACES_SAMPLER: service.name,
        OTEL_TRACES_SAMPLER_ARG: service.ratio,
      },
      cwd: stack.folder,
      log: join(stack.folder, "downstream.log"),
      ready: () => fetchText(`http://127.0.0.1:${port}/ready`),
    });
    await server.start();
    const agent = promisify(execFile)(process.execPath, [program("agent-with-tool.mjs"), url], {
      env: {
        ...process.env,
        OTEL_SERVICE_NAME: "e2e-agent",
        OTEL_EXPORTER_OTLP_ENDPOINT: stack.endpoint,
        OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
        OTEL_TRACES_SAMPLER_ARG: String(AGENT_RATIO),
      },
    });
    agent.child.stdin?.end(RUNS.map((run) => `${run}\n`).join(""));
    await agent;
    await untilHolds("all spans of the agent, and of the service, are in Jaeger", async () => {
      const runs = service.keeps === "all" ? RUNS : KEPT;
      const perRun = service.keeps === "none" ? 2 : 4;
      for (const run of runs) {
        const spans = await stack.jaeger.trace(traceId(run));
        expect(spans).toHaveLength(sampled(run) ? perRun : 2);
      }
    });
  });
  afterAll(async () => {
    await server?.stop();
    await stack?.stop();
  });

  it("the agent keeps the runs that its sampler takes", () => {
    expect([KEPT.length, DROPPED.length]).toEqual([10, 110]);
  });

  if (service.keeps === "none") {
    it("is missing from every trace of the agent", async () => {
      for (const run of RUNS) {
        expect(downstream(await stack.jaeger.trace(traceId(run)))).toEqual([]);
      }
      expect(await stack.jaeger.services()).toEqual(["e2e-agent"]);
    });
    return;
  }

  it("is under the tool call in every trace that the agent kept", async () => {
    for (const run of KEPT) {
      const [root, ...others] = treesOf(await stack.jaeger.trace(traceId(run)));
      expect(others).toEqual([]);
      const path = [root, ...(root?.children ?? [])];
      const call = path.at(1)?.children ?? [];
      expect([...path, ...call, ...(call[0]?.children ?? [])].map((node) => node?.span)).toEqual([
        "invoke_agent react",
        "execute_tool lookup",
        "GET /lookup",
        "SELECT",
      ]);
    }
  });

  it(
    service.keeps === "all"
      ? "makes traces without an agent of all the others"
      : "makes no span in any other trace",
    async () => {
      for (const run of DROPPED) {
        const names = (await stack.jaeger.trace(traceId(run))).map(({ name }) => name).sort();
        expect(names).toEqual(service.keeps === "all" ? ["GET /lookup", "SELECT"] : []);
      }
    },
  );
});
