import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringifyExact } from "../../src/entries/events.ts";
import type { JsonObject } from "../../src/entries/replay.ts";
import { type ExpectedNode, readExpected } from "../bridge/spans/expected-tree.ts";
import { STREAMS } from "../replay/dialects/agent-sdk/golden-lines.ts";
import { recordedLines, recordings } from "../replay/dialects/defect/recordings.ts";
import { Stack, shipped } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

/** One recorded stream of a runtime other than entelix, and the tree that was drawn of it. */
interface Sent {
  readonly runtime: string;
  readonly stream: string;
  readonly lines: readonly string[];
  readonly drawn: readonly ExpectedNode[];
  /** How its root fails, if it does. */
  readonly kind?: string;
}

function texts(lines: readonly JsonObject[] | undefined): string[] {
  return (lines ?? []).map((line) => stringifyExact(line));
}

function agentSdk(name: string) {
  return texts(STREAMS.find((stream) => stream.name === name)?.lines);
}

function defect(name: string) {
  const found = recordings().find((recording) => recording.name === name);
  return texts(found && recordedLines(found));
}

const FAILED_SDK = "agent_sdk_streams.jsonl#error_fatal_after_retries";
const FAILED_DEFECT = "defect_streams.jsonl#turn_aborted_after_retries";
const NESTED_DEFECT = "defect_real_runs.jsonl#real_subagent_two_levels";
const NESTED_SDK = "agent_sdk_real_runs.jsonl#real_subagent";

const SENT: readonly Sent[] = [
  {
    runtime: "agent-sdk",
    stream: FAILED_SDK,
    lines: agentSdk(FAILED_SDK),
    drawn: readExpected("agent_sdk_trees.json").get(FAILED_SDK) ?? [],
    kind: "model_dispatch",
  },
  {
    runtime: "agent-sdk",
    stream: NESTED_SDK,
    lines: agentSdk(NESTED_SDK),
    drawn: readExpected("agent_sdk_trees.json").get(NESTED_SDK) ?? [],
  },
  {
    runtime: "defect",
    stream: FAILED_DEFECT,
    lines: defect(FAILED_DEFECT),
    drawn: readExpected("defect_trees.json").get(FAILED_DEFECT) ?? [],
    kind: "model_dispatch",
  },
  {
    runtime: "defect",
    stream: NESTED_DEFECT,
    lines: defect(NESTED_DEFECT),
    drawn: readExpected("defect_trees.json").get(NESTED_DEFECT) ?? [],
  },
  {
    runtime: "graph",
    stream: "graph_sub_agents",
    lines: readFileSync(shipped("test/streams/graph_sub_agents.ndjson"), "utf8").trim().split("\n"),
    drawn: readExpected("graph_trees.json").get("graph_sub_agents") ?? [],
  },
];

/** The names in a tree, with each span's parent, in any order. */
function edges(nodes: readonly ExpectedNode[], above = ""): string[] {
  return nodes.flatMap((node) => [`${above} > ${node.span}`, ...edges(node.children, node.span)]);
}

describe("recordings of other runtimes, told by their lines", () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await Stack.start();
    // Failures are to be seen rising: the first scrape comes before they are sent.
    await untilHolds("scraped", async () => {
      expect(await stack.prometheus.value('up{job="entelix"}')).toBe(1);
    });
  });
  afterAll(() => stack?.stop());

  /** To the port for live spans, as a service that takes events of these runtimes sends them. */
  async function send({ lines }: Sent, service: string): Promise<unknown> {
    const file = join(stack.folder, `${crypto.randomUUID()}.ndjson`);
    await writeFile(file, `${lines.join("\n")}\n`);
    const program = shipped("dist/cli/main.mjs");
    const options = ["--json", "--endpoint", stack.endpoint, "--service-name", service];
    const run = promisify(execFile)(process.execPath, [program, "replay", ...options, file]);
    return JSON.parse((await run).stdout);
  }

  it.each(SENT)("$runtime $stream: its traces are in Jaeger as they were drawn", async (sent) => {
    const service = `${sent.runtime}-${sent.stream.replaceAll(/\W+/g, "-")}`;
    expect(sent.lines.length).toBeGreaterThan(0);
    expect(await send(sent, service)).toMatchObject({ rejected: 0, events: sent.lines.length });
    for (const root of sent.drawn) {
      const traceId = root.run.replaceAll("-", "");
      await untilHolds(`trace ${traceId}`, async () => {
        const spans = await stack.jaeger.trace(traceId);
        const byId = new Map(spans.map((span) => [span.spanId, span]));
        const found = spans.map(
          (span) => `${byId.get(span.parentSpanId ?? "")?.name ?? ""} > ${span.name}`,
        );
        expect(found.toSorted()).toEqual(edges([root]).toSorted());
        const top = spans.find(
          (span) => span.name === root.span && !byId.has(span.parentSpanId ?? ""),
        );
        expect(top?.attributes).toMatchObject(root.attributes);
      });
    }
  });

  it.each(SENT.filter(({ kind }) => kind !== undefined))(
    "$runtime: its failure raises the alert of its kind, and no other's",
    async ({ kind, runtime, stream }) => {
      const service = `${runtime}-${stream.replaceAll(/\W+/g, "-")}`;
      await untilHolds("delivered", () => {
        const firings = stack.webhook.firings().filter(({ labels }) => labels.job === service);
        expect(firings.map(({ labels }) => labels.alertname)).toEqual([
          "EntelixModelDispatchFailed",
        ]);
        expect(firings[0]?.labels).toMatchObject({
          entelix_failure_kind: kind,
          entelix_tenant_id: "default",
          source: "spans",
        });
      });
    },
  );
});
