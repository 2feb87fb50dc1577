// Shows that hand-written calls and the bridge export equal spans, ids included; times differ, since
// each reads its own clock.
import assert from "node:assert/strict";
import { bridge, handWritten } from "./variants.mjs";
import { makeRuns } from "./workload.mjs";

export function assertEqualSpans(count = 200) {
  const runs = makeRuns(count);
  assert.deepEqual(exported(bridge, runs), exported(handWritten, runs));
  return count * 4;
}

function exported(variant, runs) {
  const spans = [];
  const keep = {
    onStart() {},
    onEnd: (span) => spans.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  variant(true, [keep])(runs);
  return spans.map((span) => ({
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
    name: span.name,
    kind: span.kind,
    status: span.status,
    attributes: span.attributes,
    scope: span.instrumentationScope.name,
  }));
}
