// One process of the comparison of encoders, bundled: `encode ENCODER ROUNDS`. Prints as JSON the CPU of encoding
// spans into requests of 512, in us a span: the median of the rounds.
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { formatOf } from "../../src/bridge/export/request-format.ts";
import { handWritten } from "../variants.mjs";
import { makeRuns } from "../workload.mjs";

const [name, rounds] = process.argv.slice(2);
const RUNS = 2_000;
const REQUEST = 512;

const ENCODERS = {
  own: formatOf("http/protobuf").encode,
  "stock protobuf": (spans) => ProtobufTraceSerializer.serializeRequest(spans),
  "stock JSON": (spans) => JsonTraceSerializer.serializeRequest(spans),
};
const encode = ENCODERS[name];

const spans = [];
handWritten(true, [
  {
    onStart() {},
    onEnd: (span) => spans.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  },
])(makeRuns(RUNS, 0));
const requests = [];
for (let at = 0; at < spans.length; at += REQUEST) requests.push(spans.slice(at, at + REQUEST));

/** Kept, so that no encoder works for nothing. */
let bytes = 0;
function round() {
  const before = process.cpuUsage();
  for (const request of requests) bytes += encode(request).length;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / spans.length;
}

for (let n = 0; n < 30; n++) round();
bytes = 0;
const all = Array.from({ length: Number(rounds) }, round).sort((a, b) => a - b);
const bytesASpan = bytes / spans.length / Number(rounds);
console.log(JSON.stringify({ us: all[all.length >> 1], bytesASpan }));
