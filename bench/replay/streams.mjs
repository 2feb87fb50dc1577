// The recorded streams that each dialect's lines are copied from: what real runs and upstream's own
// serialisers gave, as flat lines.
import { readFileSync } from "node:fs";
import { addMilliseconds, formatRfc3339, readTimestamp } from "../../src/events/door.ts";

const linesOf = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");

const RECORDINGS = [
  ["success"],
  ["nested_subagent"],
  ["two_tenants"],
  ["approval"],
  ["tool_error"],
  ["tool_error_terminal"],
  ["model_failure"],
  ["cancelled"],
  ["pause", "resume"],
];

function entelix() {
  return RECORDINGS.map((names) => names.flatMap((name) => linesOf(`recordings/${name}.ndjson`)));
}

/** Where threads share a file, each line names its own. */
function agentSdk() {
  return ["agent_sdk_streams", "agent_sdk_real_runs"]
    .flatMap((name) => linesOf(`test/golden/${name}.jsonl`))
    .map((line) => {
      const { id, envelopes } = JSON.parse(line);
      const { thread_id = id } = envelopes.find((envelope) => envelope.thread_id) ?? {};
      return envelopes.map(({ event_id, sequence, timestamp, type, ...fields }) =>
        JSON.stringify({ event_id, sequence, timestamp, thread_id, type, ...fields }),
      );
    });
}

function defect() {
  return ["defect_streams", "defect_real_runs"]
    .flatMap((name) => linesOf(`test/golden/${name}.jsonl`))
    .map((line) => {
      const { id, base_time = "2026-06-12T10:00:00Z", events } = JSON.parse(line);
      return events.map(({ at_ms, event }) => {
        const timestamp = formatRfc3339(addMilliseconds(readTimestamp(base_time), at_ms));
        return JSON.stringify({ timestamp, session_id: id, ...event });
      });
    });
}

const LOGS = ["own_log", "upstream", "turns", "sub_agents", "endings"];

/**
 * One stream a log, without what belongs to the file's own form. Bare rows get the envelope that says whose they are.
 */
function graph() {
  return LOGS.map((name) =>
    linesOf(`test/streams/graph_${name}.ndjson`)
      .filter((line) => line.includes('"kind"'))
      .map((line) =>
        line.startsWith('{"kind"')
          ? `{"tenant_id":"acme","thread_id":"th-${name}","event":${line}}`
          : line,
      ),
  );
}

/** Each stream is an array of lines in the order of their events. */
export const STREAMS = { entelix, "agent-sdk": agentSdk, defect, graph };
