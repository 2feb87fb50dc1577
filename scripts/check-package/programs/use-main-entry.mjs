import assert from "node:assert/strict";
import { sendRun } from "./send-run.mjs";

/** The main entry at work where no SDK is installed: spans go nowhere, the audit log is kept. */
export async function useMainEntry(entelix, { MemorySessionLog }, loadSetup) {
  const { Bridge, classifyFailure } = entelix;
  const log = new MemorySessionLog();
  const bridge = new Bridge({ audit: log });
  const runId = await sendRun(bridge);
  await bridge.shutdown();
  const rows = await log.loadSince({ tenant_id: "acme", thread_id: runId }, 0);
  assert.deepEqual(
    rows.map(({ event }) => event.kind),
    ["entelix.run_started", "tool_call", "tool_result", "entelix.run_ended"],
  );
  assert.equal(classifyFailure(new DOMException("stop", "AbortError")).type, "cancelled");

  const error = await loadSetup().then(
    () => assert.fail("entelix-otel/setup: expected an error without the SDK"),
    (reason) => reason,
  );
  assert.match(error.code, /MODULE_NOT_FOUND$/);
  assert.match(error.message, /@opentelemetry\/sdk-trace/);
  const [first] = error.message.split("\n");
  const told = first.replace(/ imported from .*/, "");
  console.log(`${Object.keys(entelix).length} exports; a run left ${rows.length} audit rows`);
  console.log(`entelix-otel/setup says: ${told}`);
}
