import { Writable } from "node:stream";
import {
  BroadcastSink,
  CaptureSink,
  ChannelSink,
  RecorderSink,
} from "../../../src/entries/sinks.ts";
import type { AgentEvent } from "../../../src/events/agent-event.ts";
import { MOST_COPY } from "../../../src/events/bounded-copy.ts";
import { jsonText, MOST_ENTRIES } from "../../../src/events/messages/own-fields.ts";
import { PROBED } from "../../../src/events/messages/to-messages.ts";
import { MOST_LEVELS } from "../../../src/events/plain-json.ts";
import {
  MOST_CONTENT_BYTES,
  MOST_JSON_BYTES,
  MOST_LINE_BYTES,
  MOST_NAME,
} from "../../../src/events/value-limits.ts";
import { firstThat } from "../../support/first-that.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const STARTED: AgentEvent = { type: "started", ...RUN, agent: "a" };

/** The limits of this room as its code has them, by their rows in `docs/limits.md`. */
export const EVENT_FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  "a copy for a redaction hook or resolveParent": () => MOST_COPY,
  "entries of a list that toMessages reads": () => MOST_ENTRIES,
  "JSON of a value that is shown as the text of a message": () =>
    firstThat(2_000_000, (bytes) => {
      return jsonText({ text: "x".repeat(bytes) }).includes("cut");
    }) -
    1 +
    JSON.stringify({ text: "" }).length,
  "entries of a list that decide whether it has messages": () => PROBED / 2,
  "levels of a value": () => MOST_LEVELS,
  "capacity of ChannelSink": () => {
    const sink = new ChannelSink();
    while (sink.waiting === 0) void sink.send(STARTED);
    return sink.buffered;
  },
  "maxWaiting of ChannelSink": async () => {
    const sink = new ChannelSink();
    for (let n = 0; n < 20_000; n++) void Promise.resolve(sink.send(STARTED)).catch(() => {});
    return sink.waiting;
  },
  "capacity of BroadcastSink": async () => {
    const sink = new BroadcastSink();
    const receiver = sink.subscribe();
    const sent = 5_000;
    for (let n = 0; n < sent; n++) sink.send(STARTED);
    const { value } = await receiver.next();
    return value !== undefined && "lagged" in value ? sent - value.lagged : sent;
  },
  "limit of CaptureSink": () => {
    const sink = new CaptureSink();
    while (sink.dropped === 0) sink.send(STARTED);
    return sink.items.length;
  },
  "maxBufferedBytes of RecorderSink": bufferedBytes,
  "bytes of a line of RecorderSink": () => MOST_LINE_BYTES,
  "bytes of a value in a row": () => MOST_CONTENT_BYTES,
  "bytes of an event's JSON": () => MOST_JSON_BYTES,
  "characters of an id or name": () => MOST_NAME,
};

/** The most bytes that may wait in a recorder's stream. */
function bufferedBytes(): number {
  let waiting = 0;
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  Object.defineProperty(stream, "writableLength", { get: () => waiting });
  const sink = new RecorderSink({ stream });
  return (
    firstThat(2 ** 30, (bytes) => {
      waiting = bytes;
      try {
        void sink.send(STARTED);
        return false;
      } catch {
        return true;
      }
    }) - 1
  );
}
