import { describe, expect, it } from "vitest";
import type { Signal } from "../../../../src/events/door.ts";
import { STREAMS } from "./golden-lines.ts";
import { brief, Reader } from "./reader.ts";

/** A signal in one line: time, what, and the values that matter. */
function shown(signal: Signal): string {
  return [String(brief(signal).at), signal.signal, ...detail(signal)].join(" ");
}

function detail(signal: Signal): unknown[] {
  switch (signal.signal) {
    case "run_opens":
      return [signal.agent ?? signal.threadId, signal.attributes?.["entelix.source"]];
    case "run_closes":
    case "run_may_end": {
      const { end } = signal;
      if (end.outcome === "failed")
        return [end.outcome, end.kind.type, JSON.stringify(end.message)];
      if (end.outcome !== "complete") return [end.outcome];
      const { cache_read_input_tokens, cache_write_input_tokens, input_tokens, output_tokens } =
        end.usage ?? {};
      const cached = [cache_read_input_tokens, cache_write_input_tokens];
      const usage = end.usage && [input_tokens, output_tokens, ...cached];
      return [
        end.outcome,
        ...(usage ?? []).filter((figure) => figure !== undefined && figure !== null),
        ...Object.values(end.attributes ?? {}).filter((fact) => fact !== undefined),
      ];
    }
    case "call_opens":
      return [signal.callId, signal.name, signal.attributes?.["entelix.tool.tier"]];
    case "call_closes":
      return [
        signal.callId,
        signal.durationMs,
        signal.end.outcome === "error" ? signal.end.message : "ok",
      ];
    case "model_opens":
      return [signal.attributes?.["entelix.turn"]];
    case "model_closes": {
      const { end } = signal;
      const { attributes } = end;
      const problem = end.outcome === "error" ? end.problem : undefined;
      const used = [
        "input_tokens",
        "output_tokens",
        "cache_read.input_tokens",
        "cache_write.input_tokens",
      ];
      const retries = attributes?.["entelix.retry.count"];
      const first = attributes?.["gen_ai.response.time_to_first_chunk"];
      return [
        ...used.map((name) => attributes?.[`gen_ai.usage.${name}`] ?? "-"),
        ...(first === undefined ? [] : [`first=${first}`]),
        ...(retries === undefined ? [] : [`retries=${retries}`]),
        ...(problem === undefined ? [] : [JSON.stringify(problem.message)]),
      ];
    }
    case "span_event":
      return [signal.name, ...Object.values(signal.attributes ?? {})];
    default:
      return [];
  }
}

/** Read off the streams by hand, like the trees of `test/expected`. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "agent_sdk_streams.jsonl#multi_turn_tools_retry_subagent_done": [
    "10:00:00Z run_opens thread-open-1 agent-sdk",
    "10:00:00Z model_opens 1",
    "10:00:00.410Z span_event entelix.retry 1 5 500 429 rate limited",
    "10:00:01.470Z call_opens tu_1 read observe",
    "10:00:01.500Z call_closes tu_1 29 ok",
    "10:00:01.501Z call_opens tu_2 bash confirm",
    "10:00:04.001Z call_closes tu_2 2500 exit status 101",
    "10:00:01.470Z model_closes 1000 80 0 900 first=1.31 retries=1",
    "10:00:04.010Z model_opens 2",
    "10:00:04.620Z call_opens tu_3 subagent_explore observe",
    "10:00:04.620Z run_opens explore agent-sdk",
    "10:00:07.010Z run_closes complete 3",
    "10:00:07.010Z call_closes tu_3 2390 ok",
    "10:00:04.620Z model_closes 1500 60 900 0",
    "10:00:07.020Z model_opens 3",
    "10:00:07.900Z model_closes 1800 40 1500 0",
    "10:00:07.920Z run_closes complete 4300 180 2400 900 3",
  ],
  "agent_sdk_streams.jsonl#refusal": [
    "10:00:00Z run_opens thread-open-2 agent-sdk",
    "10:00:00.001Z model_opens 1",
    "10:00:00.600Z model_closes 50 5 0 0",
    "10:00:00.601Z run_closes refused",
  ],
  "agent_sdk_streams.jsonl#cancelled_mid_tool": [
    "10:00:00Z run_opens thread-open-3 agent-sdk",
    "10:00:00Z model_opens 1",
    "10:00:00.720Z call_opens tu_1 sleep observe",
    "10:00:00.720Z model_closes - - - -",
    '10:00:02Z run_closes failed cancelled "run cancelled"',
  ],
  "agent_sdk_streams.jsonl#error_fatal_after_retries": [
    "10:00:00Z run_opens thread-open-4 agent-sdk",
    "10:00:00Z model_opens 1",
    "10:00:00.100Z span_event entelix.retry 1 2 100 503",
    "10:00:00.300Z span_event entelix.retry 2 2 200 503",
    '10:00:00.700Z model_closes - - - - retries=2 "503 overloaded"',
    '10:00:00.701Z run_may_end failed model_dispatch "Server error after 2 retries: 503 overloaded"',
  ],
  "agent_sdk_real_runs.jsonl#real_text": [
    "02:46:15.082196633Z run_opens thread-real_text agent-sdk",
    "02:46:15.082196633Z model_opens 1",
    "02:46:15.093768609Z model_closes 15 25 5 2",
    "02:46:15.093858613Z run_closes complete 15 25 5 2 1",
  ],
  "agent_sdk_real_runs.jsonl#real_two_tools_one_fails": [
    "02:46:15.156580561Z run_opens thread-real_two_tools_one_fails agent-sdk",
    "02:46:15.156580561Z model_opens 1",
    "02:46:15.168247858Z call_opens tu_1 read observe",
    "02:46:15.168302369Z call_opens tu_2 bash observe",
    "02:46:15.175370333Z call_closes tu_2 6 Tool error: exit status 101",
    "02:46:15.189801200Z call_closes tu_1 21 ok",
    "02:46:15.168247858Z model_closes 15 25 5 2",
    "02:46:15.189901909Z model_opens 2",
    "02:46:15.200365087Z model_closes 15 25 5 2",
    "02:46:15.200444595Z run_closes complete 30 50 10 4 2",
  ],
  "agent_sdk_real_runs.jsonl#real_retry_then_ok": [
    "02:46:15.262975024Z run_opens thread-real_retry_then_ok agent-sdk",
    "02:46:15.262975024Z model_opens 1",
    "02:46:15.273299254Z span_event entelix.retry 1 2 8 Rate limited by LLM provider",
    "02:46:15.293854367Z span_event entelix.retry 2 2 13 overloaded",
    "02:46:15.319608439Z model_closes 15 25 5 2 retries=2",
    "02:46:15.319674768Z run_closes complete 15 25 5 2 1",
  ],
  "agent_sdk_real_runs.jsonl#real_cancel_mid_tool": [
    "02:46:15.381352894Z run_opens thread-real_cancel_mid_tool agent-sdk",
    "02:46:15.381352894Z model_opens 1",
    "02:46:15.392883739Z call_opens tu_1 sleep observe",
    "02:46:15.442541453Z call_closes tu_1 49 ok",
    "02:46:15.392883739Z model_closes 15 25 5 2",
    '02:46:15.442602353Z run_closes failed cancelled "run cancelled"',
  ],
  "agent_sdk_real_runs.jsonl#real_subagent": [
    "02:46:15.504956630Z run_opens thread-real_subagent agent-sdk",
    "02:46:15.504956630Z model_opens 1",
    "02:46:15.515356583Z call_opens tu_1 subagent_explore confirm",
    "02:46:15.515879043Z run_opens explore agent-sdk",
    "02:46:15.571879043Z run_closes complete 3 2 45 75 15 6 4",
    "02:46:15.571879043Z call_closes tu_1 56 ok",
    "02:46:15.515356583Z model_closes 15 25 5 2",
    "02:46:15.571908317Z model_opens 2",
    "02:46:15.583254217Z model_closes 15 25 5 2",
    "02:46:15.583325733Z run_closes complete 30 50 10 4 2",
  ],
  "agent_sdk_real_runs.jsonl#real_retries_exhausted": [
    "02:46:15.719488337Z run_opens thread-real_retries_exhausted agent-sdk",
    "02:46:15.719488337Z model_opens 1",
    "02:46:15.730918341Z span_event entelix.retry 1 2 8 a",
    "02:46:15.751683331Z span_event entelix.retry 2 2 14 b",
    '02:46:15.778478702Z model_closes - - - - retries=2 "Server error after 2 retries: c"',
    '02:46:15.778553433Z run_may_end failed model_dispatch "Server error after 2 retries: c"',
  ],
  "agent_sdk_real_runs.jsonl#real_unknown_tool": [
    "02:46:15.988215950Z run_opens thread-real_unknown_tool agent-sdk",
    "02:46:15.988215950Z model_opens 1",
    "02:46:15.999754647Z model_closes 15 25 5 2",
    "02:46:15.999788487Z model_opens 2",
    "02:46:16.011081548Z model_closes 15 25 5 2",
    "02:46:16.011142188Z run_closes complete 30 50 10 4 2",
  ],
};

describe("the signals of the golden streams", () => {
  it("were read off every stream", () => {
    expect(Object.keys(EXPECTED)).toEqual(STREAMS.map(({ name }) => name));
  });

  for (const { name, lines } of STREAMS) {
    it(name, () => {
      const reader = new Reader().read(...lines).end();
      expect(reader.signals.map(shown)).toEqual(EXPECTED[name]);
      expect(Object.values(reader.mapping.counts)).toEqual([0, 0, 0, 0, 0]);
      expect(reader.mapping.forgottenThreads).toBe(0);
    });
  }

  it("put a sub-agent under its call, with its own figures and no made-up thread", () => {
    const stream = STREAMS.find(({ name }) => name.endsWith("#real_subagent"));
    const { signals } = new Reader().read(...(stream?.lines ?? []));
    const [parent, child] = signals.filter(({ signal }) => signal === "run_opens");
    expect(child).toMatchObject({
      runId: "fa0da2f2-c15d-8b30-b954-898b74c7c64e",
      agent: "explore",
      parentRunId: parent?.runId,
      parentCallId: "tu_1",
    });
    expect(child).not.toHaveProperty("threadId", expect.anything());
    const closes = signals.find(
      (each) => each.signal === "run_closes" && each.runId === child?.runId,
    );
    expect(closes).toMatchObject({
      end: {
        outcome: "complete",
        attributes: {
          "entelix.run.turns": 3,
          "entelix.usage.tool_calls": 2,
          "entelix.usage.input_tokens": 45,
          "entelix.usage.output_tokens": 75,
          "entelix.usage.cache_read.input_tokens": 15,
          "entelix.usage.cache_write.input_tokens": 6,
          "entelix.progress.count": 4,
        },
      },
    });
  });
});
