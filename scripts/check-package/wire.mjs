/**
 * Runs a program that sends one run and prints its id, and looks at what came out on the wire.
 *
 * @throws Error unless both spans of the run are in the trace of its id, with the ids of `docs/`.
 */
export async function checkRunOnTheWire(project, program, receiver, fact) {
  receiver.takeSpans();
  // Programs name it themselves, or leave it to the exporter.
  const env = { RECEIVER: receiver.url, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const runId = await project.run(program, env);
  const hex = runId.replaceAll("-", "");
  const expected = [
    `execute_tool search in trace ${hex} under ${hex.slice(16)}`,
    `invoke_agent support in trace ${hex} as ${hex.slice(16)}`,
  ];
  const found = receiver.takeSpans().map(describe).sort();
  if (found.join() !== expected.join()) {
    throw new Error(`run ${runId}: expected\n${expected.join("\n")}\ngot\n${found.join("\n")}`);
  }
  fact(`${program}: run ${runId} is in trace ${hex}`);
}

/**
 * As {@link checkRunOnTheWire}, for a program that sends metrics too.
 *
 * @throws Error unless the run is counted, once, as complete.
 */
export async function checkCountedRun(project, program, receiver, fact) {
  receiver.takeRuns();
  await checkRunOnTheWire(project, program, receiver, fact);
  const counted = JSON.stringify(receiver.takeRuns());
  const expected = JSON.stringify([{ outcome: "complete", runs: 1 }]);
  if (counted !== expected) throw new Error(`entelix.runs: expected ${expected}, got ${counted}`);
  fact(`entelix.runs: ${counted}`);
}

function describe({ name, traceId, spanId, parentSpanId }) {
  const place = parentSpanId ? `under ${parentSpanId}` : `as ${spanId}`;
  return `${name} in trace ${traceId} ${place}`;
}
