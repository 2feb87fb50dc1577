import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPage } from "../docs/pages.ts";
import { listening } from "../support/listening.ts";
import { expectMessageForm, messagesOn } from "../support/message-form.ts";
import { OtlpServer } from "../support/otlp-server.ts";
import { wireTree } from "../support/wire-tree.ts";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";
import { byId, type PrintedRun, replayed } from "./support/printed-spans.ts";

const execute = promisify(execFile);

let folder: string;
let tarball: string;
let newerNode: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-ai-sdk-"));
  tarball = await packed(folder);
  newerNode = await installedPath("newer-node");
});
afterAll(() => rm(folder, { recursive: true }));

describe.each([
  { server: "ai-sdk-6-oldest", node: () => process.execPath },
  { server: "ai-sdk-6-newest", node: () => process.execPath },
  { server: "ai-sdk-newest", node: () => newerNode },
])("$server", ({ node, server }) => {
  let project: AdaptersProject;
  const play = (...args: readonly string[]) =>
    project.run<PrintedRun>("ai-sdk-content.mjs", args, ["ai-sdk-version.mjs"]);

  beforeAll(async () => {
    project = await AdaptersProject.create(server, tarball, node());
  });
  afterAll(() => project?.remove());

  it("shows messages, request, usage and cost; a replay makes the same spans", async () => {
    const { rows, spans, tape, troubles } = await play("shown");
    expect(troubles).toEqual([]);
    expect(expectMessageForm(spans)).toBe(10);
    const [first, call, , run] = spans;
    expect(first?.attributes).toMatchObject({
      "gen_ai.provider.name": "acme",
      "gen_ai.request.temperature": 0.2,
      "gen_ai.request.max_tokens": 99,
      "gen_ai.response.id": "resp-1",
      "gen_ai.usage.reasoning.output_tokens": 1,
      "entelix.model.cost": "0.01",
    });
    expect(first && messagesOn(first, "output")).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "thought-mark" },
          { type: "tool_call", id: "c1", name: "look", arguments: { order: "input-mark" } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    expect(call?.attributes).toMatchObject({
      "gen_ai.tool.description": "looks an order up",
      "gen_ai.tool.call.arguments": '{"order":"input-mark"}',
      "gen_ai.tool.call.result": '{"state":"result-mark"}',
    });
    const text = (content: string) => [{ type: "text", content }];
    expect(run && messagesOn(run, "input")).toEqual([
      { role: "user", parts: text("question-mark") },
    ]);
    expect(run && messagesOn(run, "output")).toEqual([
      { role: "assistant", parts: text("answer-mark"), finish_reason: "stop" },
    ]);
    expect(run?.attributes).toMatchObject({
      "gen_ai.conversation.id": "t1",
      "user.id": "u1",
      "entelix.run.tags": ["support"],
      "entelix.agent.usage.cost": "0.02",
    });
    expect(rows.map(({ kind }) => kind)).toEqual([
      "entelix.run_started",
      "tool_call",
      "tool_result",
      "entelix.run_ended",
    ]);
    expect(await replayed(tape, true)).toEqual(byId(spans));
  });

  it("shows no content where a call's own settings hide it", async () => {
    const { rows, spans, tape, troubles } = await play("hidden");
    expect(troubles).toEqual([]);
    expect(JSON.stringify([spans, rows, tape])).not.toMatch(/-mark/);
    const failed = spans.find(({ name }) => name === "execute_tool fail");
    expect(failed?.attributes["entelix.tool.error_kind"]).toBe("internal");
    expect(rows.find(({ kind }) => kind === "tool_result")).toMatchObject({
      content: "",
      is_error: true,
      model_text: "unknown",
    });
    expect(await replayed(tape, true)).toEqual(byId(spans));
  });

  it("keeps tenants apart whose calls run at once", async () => {
    const { rows, spans } = await play("tenants");
    const traces = new Map<string, Set<unknown>>();
    for (const { attributes, traceId } of spans) {
      const tenants = traces.get(traceId) ?? new Set();
      traces.set(traceId, tenants.add(attributes["entelix.tenant_id"]));
    }
    expect([...traces.values()].map((tenants) => [...tenants])).toEqual([["north"], ["south"]]);
    expect(spans).toHaveLength(8);
    for (const tenant_id of ["north", "south"]) {
      const own = rows.filter((row) => JSON.stringify(row.thread).includes(tenant_id));
      expect(own).toHaveLength(4);
    }
  });

  it("keeps streams in their runs, also if another run reads them", async () => {
    const { spans, troubles } = await play("streams");
    const found = spans.map(({ attributes, name, traceId }) => ({
      name,
      traceId,
      tenant: attributes["entelix.tenant_id"],
    }));
    for (const tenant of ["north", "south", "west"]) {
      const own = found.filter((span) => span.tenant === tenant);
      const asked = tenant === "west" ? "read" : "ask";
      const names = ["chat small-1", "chat small-1", `execute_tool ${asked}`];
      expect(own.map(({ name }) => name).sort()).toEqual([...names, "invoke_agent support"]);
      expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(1);
    }
    expect(new Set(found.map(({ traceId }) => traceId)).size).toBe(3);
    expect(troubles).toEqual([]);
  });

  it("links a run that resumes in another process, with who decided and after which wait", async () => {
    const file = join(folder, `paused-${server}.json`);
    const paused = await play("pause", file);
    expect(
      paused.spans.map(({ name, attributes }) => [name, attributes["entelix.run.outcome"]]),
    ).toEqual([
      ["chat small-1", undefined],
      ["invoke_agent support", "interrupted"],
    ]);
    const pausedRun = paused.spans[1]?.attributes["entelix.run_id"];
    const { rows, spans, tape } = await play("resume", file);
    const run = spans.find(({ name }) => name === "invoke_agent support");
    expect(run?.links).toEqual([paused.spans[1]?.traceId]);
    expect(rows.find(({ kind }) => kind === "entelix.run_started")).toMatchObject({
      resumed_from_run_id: pausedRun,
    });
    expect(rows.find(({ kind }) => kind === "entelix.tool_call_decided")).toMatchObject({
      decision: "approved",
      by: "user",
      person: "u2",
      reason: "small",
      tool_use_id: "c1",
      wait_ms: expect.any(Number),
    });
    expect(await replayed(tape, false)).toEqual(byId(spans));
  });
});

/** Runs the text of a program in a project. @returns its warnings, and what arrived. */
async function runText(project: AdaptersProject, node: string, text: string) {
  await using receiver = await OtlpServer.start();
  const env = { PATH: process.env.PATH, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const args = ["--input-type=module", "--eval", text];
  const { stderr } = await execute(node, args, { cwd: project.folder, env });
  return { stderr, spans: receiver.spans };
}

describe("the AI SDK 6 by the row of the README", () => {
  it("is a run of the tenant", async () => {
    const row = readPage("README.md")
      .split("\n")
      .find((line) => line.startsWith("| [AI SDK 6]"));
    const [, , , , telemetry = ""] = row?.split("|") ?? [];
    const [option, statement] = [...telemetry.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
    const project = await AdaptersProject.create("ai-sdk-6-newest", tarball, process.execPath);
    try {
      const program = `
        import { generateText } from "ai";
        import { MockLanguageModelV3 } from "ai/test";
        import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
        import { setupTracing } from "entelix-otel/setup";
        const tracing = setupTracing();
        const [sink, tenant] = [tracing.createBridge(), "acme"];
        ${statement};
        const doGenerate = async () => (${ANSWER});
        const model = new MockLanguageModelV3({ modelId: "small-1", doGenerate });
        await generateText({ model, prompt: "Where is order 17?", ${option} });
        await tracing.shutdown();`;
      const { spans, stderr } = await runText(project, process.execPath, program);
      expect(stderr).toBe("");
      expect(wireTree(spans)).toEqual(["invoke_agent generateText", "  chat small-1"]);
      expect(spans.map(({ attributes }) => attributes["entelix.tenant_id"])).toEqual(
        spans.map(() => "acme"),
      );
    } finally {
      await project.remove();
    }
  });
});

/** What a model of the SDK's mocks answers. */
const ANSWER = JSON.stringify({
  content: [{ type: "text", text: "sent" }],
  finishReason: { unified: "stop" },
  usage: { inputTokens: { total: 31 }, outputTokens: { total: 7 } },
  warnings: [],
});

describe("the AI SDK 7", () => {
  let project: AdaptersProject;

  beforeAll(async () => {
    project = await AdaptersProject.create("ai-sdk-newest", tarball, newerNode);
  });
  afterAll(() => project?.remove());

  it.each([
    ["", ["chat small-1", "invoke_agent generateText"]],
    ["yes", []],
  ])("is reported without code, unless by hand: %j", async (BY_HAND, names) => {
    await using receiver = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, BY_HAND };
    const said = await project.registered("register-ai-sdk.mjs", env);
    expect(said).toBe(
      "entelix-otel: reports AI SDK, tenant default. These need code: MCP (docs/mcp.md)\nhello\n",
    );
    expect(receiver.spans.map(({ name }) => name)).toEqual(names);
  });

  it("has the requests of stock instrumentation below their calls, without code", async () => {
    await using receiver = await OtlpServer.start();
    await using shop = await listening();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, SHOP: shop.url };
    await project.registered("register-ai-sdk-http.mjs", env);
    expect(wireTree(receiver.spans)).toEqual([
      ...["invoke_agent agent", "  chat small-1", "    GET /model"],
      ...["  execute_tool look", "    GET /tool", "  chat small-1", "    GET /model"],
      ...["invoke_agent streams", "  chat small-1", "    GET /model"],
    ]);
  });

  it("says why a run has no tenant, where the call does not include its context", async () => {
    const program = `
      import { generateText, registerTelemetry } from "ai";
      import { MockLanguageModelV4 } from "ai/test";
      import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
      import { setupTracing } from "entelix-otel/setup";
      const tracing = setupTracing();
      const tenant = ({ runtimeContext }) => runtimeContext.tenantId;
      registerTelemetry(new AiSdkTelemetry({ sink: tracing.createBridge(), tenant }));
      const doGenerate = async () => (${ANSWER});
      const model = new MockLanguageModelV4({ modelId: "small-1", doGenerate });
      const runtimeContext = { tenantId: "acme" };
      for (const telemetry of [{}, {}, { includeRuntimeContext: { tenantId: true } }])
        await generateText({ model, prompt: "Where is order 17?", runtimeContext, telemetry });
      await tracing.shutdown();`;
    const { spans, stderr } = await runText(project, newerNode, program);
    expect(stderr.match(/a run without a tenant is not reported: .*/g)).toEqual([
      "a run without a tenant is not reported: TypeError: tenant: expected a text that is not empty, got undefined; " +
        "`runtimeContext` has only the fields that the call's `telemetry.includeRuntimeContext` names (AI SDK 6: `metadata`)",
    ]);
    expect(wireTree(spans)).toEqual(["invoke_agent generateText", "  chat small-1"]);
  });
});
