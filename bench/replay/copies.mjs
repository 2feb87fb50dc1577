// Fresh copies of recorded streams: an id that came again would be a duplicate, and cheap for the wrong
// reason. Ids, times and nothing else differ, so the lines keep their sizes and shapes.
import { readTimestamp } from "../../src/events/door.ts";

const UUID = "([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-)([0-9a-f]{12})";
const NAMED = `"(thread_id|session_id|sub_thread_id|parent_thread|event_id|run_id)":"(?!${UUID})([^"]*)"`;
const TIME = '"timestamp":"([^"]*)"';
/** A trace id is its root's run id without the dashes, and the end of it is the root's span id. */
const HEX = '("(?:trace|span)_id":"(?:[0-9a-f]{16})?[0-9a-f]{4})([0-9a-f]{12})"';
const FRESH = new RegExp(`${TIME}|${UUID}|${HEX}|${NAMED}`, "g");

/** Copies begin when a third of the one before has passed, so that about three are open at a time. */
const OVERLAP = 3n;
const BILLION = 1_000_000_000n;
const GAP_NS = 1_234_567n;

function nanosecondsOf(text) {
  const [seconds, nanos] = readTimestamp(text);
  return BigInt(seconds) * BILLION + BigInt(nanos);
}

/** As many sub-second digits as in the recording, unless the shift needs the third. */
function timeText(ns, like) {
  const date = new Date(Number(ns / 1_000_000n)).toISOString();
  const digits = Math.max(3, like.length - "2026-04-29T12:00:00.Z".length);
  return `${date.slice(0, 20)}${String(ns % BILLION)
    .padStart(9, "0")
    .slice(0, digits)}Z`;
}

function timesOf(stream) {
  return stream.map((line) => {
    const [, text] = /"timestamp":"([^"]*)"/.exec(line) ?? [];
    if (text === undefined) throw new Error(`a line without time: ${line}`);
    return nanosecondsOf(text);
  });
}

function freshLine(line, copy, shift) {
  const tag = copy.toString(36);
  return line.replace(
    FRESH,
    (_, time, uuidHead, uuidTail, hexHead, hexTail, name, _h, _t, value) => {
      if (time !== undefined) return `"timestamp":"${timeText(nanosecondsOf(time) + shift, time)}"`;
      if (uuidHead !== undefined) return uuidHead + freshTail(uuidTail, copy);
      if (hexHead !== undefined) return `${hexHead}${freshTail(hexTail, copy)}"`;
      return `"${name}":"${value}-${tag}"`;
    },
  );
}

/** The low 48 bits of a UUID are random, whatever its version. */
function freshTail(tail, copy) {
  const fresh = (Number.parseInt(tail, 16) + copy * 2_654_435_761) % 2 ** 48;
  return fresh.toString(16).padStart(12, "0");
}

/**
 * The streams in turn, each time afresh, merged by time as a service would write them.
 *
 * @returns batches of at least `batchLines` lines, all streams whole.
 */
export function* freshBatches(streams, batchLines) {
  const recorded = streams.map((lines) => ({ lines, times: timesOf(lines) }));
  let start = nanosecondsOf("2026-11-21T03:00:00Z");
  let copy = 0;
  for (;;) {
    const batch = [];
    while (batch.length < batchLines) {
      for (const { lines, times } of recorded) {
        const shift = ((start - times[0]) / 1_000_000n) * 1_000_000n;
        for (const [n, line] of lines.entries()) {
          batch.push({ at: times[n] + shift, line: freshLine(line, copy, shift) });
        }
        copy += 1;
        start += (times.at(-1) - times[0]) / OVERLAP + GAP_NS;
      }
    }
    // The sort is stable: lines of one time stay as they stood.
    batch.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
    start = batch.at(-1).at + GAP_NS;
    yield batch.map(({ line }) => line);
  }
}
