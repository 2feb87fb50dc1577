import { describe, expect, it } from "vitest";
import { formatIssue } from "../../../src/replay/input/decode-line.ts";
import { readEvents } from "../../../src/replay/input/read-events.ts";
import { RUNTIMES } from "../../../src/replay/runtimes.ts";
import { readLines } from "../../support/golden.ts";

const LINES = {
  entelix: "retried_tool_call",
  "agent-sdk": "agent_sdk_cut_streams",
  defect: "defect_lost_spawn",
  graph: "graph_entelix_05",
} as const;

const first = (stream: string) => readLines(`streams/${stream}.ndjson`).slice(0, 1);
const pairs = Object.entries(LINES).flatMap(([before, stream]) =>
  Object.entries(LINES).flatMap(([after, other]) =>
    before === after ? [] : [[before, after, [...first(stream), ...first(other)]] as const],
  ),
);

describe("a source with lines of two runtimes", () => {
  it.each(pairs)("%s, then %s, is told so, and the second is refused", async (is, other, lines) => {
    const issues: string[] = [];
    const [one, ...more] = RUNTIMES;
    const source = (async function* () {
      yield Buffer.from(lines.join("\n"));
    })();
    const report = await readEvents(source, {
      name: "f",
      dialects: [one.dialect, ...more.map(({ dialect }) => dialect)],
      onEvent: () => {},
      onIssue: (issue) => void issues.push(formatIssue(issue)),
    });
    expect(report).toMatchObject({ events: 1, rejected: 1, dialect: is });
    expect(issues).toEqual([
      `f:2: type: expected an event of ${is}, as before in this source, not of ${other}`,
    ]);
  });
});
