// The floor of a replay: lines split, parsed by `JSON.parse`, and the calls that their spans take, in the
// order and with the values of a real replay. Nothing is checked, ordered, looked up or mapped: what a
// replay takes beyond that is what its rules cost.
import { createReplayProvider, serviceResource } from "../../src/bridge/door.ts";
import { SpanRecord } from "../../src/bridge/output/span-record.ts";
import { Replay } from "./replay.mjs";

const { resource } = serviceResource("bench");
const NEWLINE = 10;

/** Replays slices beforehand, and notes each call of a span. */
export class SpanCalls {
  #calls = [];
  #replay;

  constructor(dialect) {
    const provider = createReplayProvider(resource, { onEnd() {} });
    this.#replay = new Replay(dialect, { getTracer: () => this.#noting(provider) });
  }

  /** The slice with the calls that its lines lead to; those of lines held back come with the next one. */
  async of(slice) {
    this.#calls = [];
    await this.#replay.take(slice.bytes);
    return { ...slice, calls: this.#calls };
  }

  #noting(provider) {
    const tracer = provider.getTracer("bench");
    let spans = 0;
    return {
      startSpan: (name, { attributes, ...options }, context) => {
        const span = tracer.startSpan(name, { ...options, attributes: { ...attributes } }, context);
        const number = spans++;
        this.#calls.push(new Call("start", number, name, span, literal(attributes)));
        return this.#notes(span.spanContext(), number);
      },
    };
  }

  #notes(own, number) {
    let recording = true;
    const note = (...call) => this.#calls.push(new Call(call[0], number, ...call.slice(1)));
    const setAttribute = (name, value) => note("attribute", name, value);
    return {
      spanContext: () => own,
      isRecording: () => recording,
      setAttribute,
      setAttributes: (all) => {
        for (const [name, value] of Object.entries(all)) setAttribute(name, value);
      },
      addEvent: (name, attributes, at) => note("event", name, at, literal(attributes ?? {})),
      addLink: (link) => note("link", "", link),
      setStatus: (status) => note("status", "", status),
      updateName: (name) => note("name", name),
      end: (at) => {
        recording = false;
        note("end", "", at);
      },
    };
  }
}

/** One shape for all, as light to read as can be. */
class Call {
  constructor(what, span, name, value, attributes) {
    this.what = what;
    this.span = span;
    this.name = name;
    this.value = value;
    this.attributes = attributes;
  }
}

/** Makes the spans again, their calls spread over the lines. */
export function floor() {
  let ended = 0;
  const onEnd = () => {
    ended += 1;
  };
  const origin = { resource, scope: { name: "bench" }, outlet: { onEnd } };
  const open = new Map();
  return ({ bytes, lines, calls }) => {
    let from = 0;
    let made = 0;
    for (let line = 1; line <= lines.length; line++) {
      const to = bytes.indexOf(NEWLINE, from);
      if (typeof JSON.parse(bytes.utf8Slice(from, to)) !== "object") throw new Error("no object");
      from = to + 1;
      const due = Math.floor((calls.length * line) / lines.length);
      for (; made < due; made++) make(calls[made], open, origin);
    }
    return ended;
  };
}

function make(call, open, origin) {
  if (call.what === "start") {
    open.set(call.span, begin(call.value, call.attributes, origin));
    return;
  }
  const span = open.get(call.span);
  switch (call.what) {
    case "attribute":
      return span.setAttribute(call.name, call.value);
    case "event":
      return span.addEvent(call.name, call.attributes.write(call.attributes.values), call.value);
    case "link":
      return span.addLink(call.value);
    case "status":
      return span.setStatus(call.value);
    case "name":
      return span.updateName(call.name);
    case "end":
      open.delete(call.span);
      return span.end(call.value);
  }
}

function begin(like, { write, values }, origin) {
  const { traceId, spanId, traceFlags } = like.spanContext();
  const own = { traceId, spanId, traceFlags };
  const { parentSpanContext, name, kind, startTime } = like;
  const attributes = write(values);
  const span = new SpanRecord(origin, own, parentSpanContext, name, kind, startTime, attributes);
  for (const link of like.links) span.addLink(link);
  return span;
}

/** By the names of their attributes. */
const literals = new Map();

/**
 * What writes the same attributes as a literal, as the driver does. A copy by `{...}` would have another
 * hidden class, on which attributes that are set later take a microsecond each.
 */
function literal(attributes) {
  const names = Object.keys(attributes);
  const known = names.join("\n");
  let write = literals.get(known);
  if (write === undefined) {
    const fields = names.map((name) => `${JSON.stringify(name)}: of[${JSON.stringify(name)}]`);
    write = new Function("of", `return {${fields.join(", ")}};`);
    literals.set(known, write);
  }
  return { write, values: { ...attributes } };
}
