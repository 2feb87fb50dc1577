import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/index.ts";
import { readEvents } from "../../../src/replay/input/read-events.ts";
import { RUNTIMES } from "../../../src/replay/runtimes.ts";
import { readLines } from "../../support/golden.ts";
import { collectSpans } from "../../support/spans.ts";

const STREAMS: Readonly<Record<string, string>> = {
  entelix: "retried_tool_call",
  "agent-sdk": "agent_sdk_cut_streams",
  defect: "defect_lost_spawn",
  graph: "graph_entelix_05",
};
const DETAILS = '"details":{"user_id":"u-17","tags":["beta"],"metadata":{"plan":"pro"}}';

/** The attributes of a stream's run spans. */
async function runSpans(name: string, change: (line: string) => string) {
  const runtime = RUNTIMES.find(({ dialect }) => dialect.name === name);
  if (runtime === undefined) throw new Error(name);
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ mode: "replay", tracerProvider: provider });
  const player = runtime.player(bridge, "acme");
  const lines = readLines(`streams/${STREAMS[name]}.ndjson`).map(change);
  const report = await readEvents(
    (async function* () {
      yield lines.join("\n");
    })(),
    {
      dialects: [runtime.dialect],
      onEvent: ({ event, envelope }) => player.take(event, envelope),
      onIssue: () => {},
    },
  );
  await player.end();
  await bridge.shutdown();
  expect(report.events).toBeGreaterThan(0);
  return spans()
    .filter((span) => span.attributes["gen_ai.operation.name"] === "invoke_agent")
    .map(({ attributes }) => attributes);
}

describe.each(Object.keys(STREAMS))("whose run it is, in a recording of %s", (name) => {
  it("is on its runs", async () => {
    const runs = await runSpans(name, (line) => {
      const session = line.includes('"session_id"') ? "" : '"session_id":"s",';
      // A bare row's own fields are no envelope.
      if (name === "graph") return `{${session}${DETAILS},"event":${line}}`;
      return `{${session}${DETAILS},${line.slice(1)}`;
    });
    expect(runs.length).toBeGreaterThan(0);
    for (const attributes of runs) {
      expect(attributes).toMatchObject({
        "user.id": "u-17",
        "session.id": "s",
        "entelix.run.tags": ["beta"],
        "entelix.run.metadata.plan": "pro",
      });
    }
  });

  it("is not there unless a line says it", async () => {
    const runs = await runSpans(name, (line) => line);
    expect(runs.length).toBeGreaterThan(0);
    for (const attributes of runs) expect(attributes).not.toHaveProperty("user.id");
  });
});
