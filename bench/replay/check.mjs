// Before anything is timed: a replay of many fresh copies makes the events and spans that the recorded
// streams make one by one.
import assert from "node:assert/strict";
import { freshBatches } from "./copies.mjs";
import { Replay } from "./replay.mjs";

async function replayed(dialect, lines) {
  const replay = new Replay(dialect);
  await replay.take(Buffer.from(`${lines.join("\n")}\n`));
  return replay.end();
}

export async function checkReplay(dialect, streams) {
  let each = 0;
  let lines = 0;
  for (const stream of streams) {
    const { report, spans } = await replayed(dialect, stream);
    assert.equal(report.events, stream.length);
    each += spans;
    lines += stream.length;
  }
  assert.ok(each > 0);
  const copies = 20;
  const { value: batch } = freshBatches(streams, lines * copies).next();
  const { report, spans, diagnostics } = await replayed(dialect, batch);
  assert.equal(batch.length, lines * copies);
  assert.equal(report.events, batch.length);
  assert.equal(report.rejected + report.unknown + report.late + report.splitTies, 0);
  assert.equal(spans, each * copies);
  assert.equal(diagnostics.ignored.duplicate ?? 0, 0);
  return { lines: batch.length, spans };
}
