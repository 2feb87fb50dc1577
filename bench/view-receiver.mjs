// npm run build && node bench/view-receiver.mjs [SPANS] [protobuf|json] [--write]: what `view --listen` costs for each span that programs send: CPU
// time of the process, and its memory while they come. The spans come
// as protobuf, 512 in a request, on four connections at once. A run has five spans.
import { once } from "node:events";
import { Agent, request } from "node:http";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { show } from "./page.mjs";
import { NAMES } from "./processes.mjs";
import { measured } from "./view-open/measured.mjs";

const [spanCount = "200000", form = "protobuf"] = NAMES;
const total = Number(spanCount);
const RUNS = 102;
const SENDERS = 4;

const TRACE = "0af7651916cd43dd8448eb211c8031";
const SPAN = "b7ad6b716920";

/** Spans of a run: the agent, two calls of a model, two of a tool, with messages. */
function spansOfRun(n) {
  const traceId = TRACE + n.toString(16).padStart(2, "0");
  const begin = 1_795_228_846;
  const id = (k) => SPAN + n.toString(16).padStart(2, "0") + k.toString(16).padStart(2, "0");
  const messages = JSON.stringify([
    { role: "user", parts: [{ type: "text", content: "Where is my order? ".repeat(10) }] },
  ]);
  const span = (k, name, attributes) => ({
    name,
    kind: 0,
    spanContext: () => ({ traceId, spanId: id(k), traceFlags: 1 }),
    ...(k === 0 ? {} : { parentSpanContext: { traceId, spanId: id(0), traceFlags: 1 } }),
    startTime: [begin + k, 0],
    endTime: [begin + k + 1, 500],
    status: { code: 0 },
    attributes: { "gen_ai.conversation.id": "thread", ...attributes },
    links: [],
    events: [],
    resource: { attributes: { "service.name": "shop" } },
    instrumentationScope: { name: "bench" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    ended: true,
    duration: [1, 500],
  });
  const chat = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.usage.input_tokens": 900,
    "gen_ai.usage.output_tokens": 80,
    "gen_ai.input.messages": messages,
  };
  const tool = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up" };
  return [
    span(1, "chat gpt-5", chat),
    span(2, "execute_tool look_up", tool),
    span(3, "chat gpt-5", chat),
    span(4, "execute_tool look_up", tool),
    span(0, "invoke_agent shop", {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "shop",
      "gen_ai.input.messages": messages,
    }),
  ];
}

/** A request whose trace IDs are counted on with each copy. */
function template() {
  const spans = Array.from({ length: RUNS }, (_, n) => spansOfRun(n)).flat();
  const serializer = form === "json" ? JsonTraceSerializer : ProtobufTraceSerializer;
  const body = Buffer.from(serializer.serializeRequest(spans));
  const mark = form === "json" ? Buffer.from(TRACE) : Buffer.from(TRACE, "hex");
  const at = [];
  for (let from = body.indexOf(mark); from >= 0; from = body.indexOf(mark, from + 1)) at.push(from);
  return { body, spans: spans.length, at };
}

const { at, body, spans } = template();
const { child, cost } = measured(["view", "--listen", "0"]);
let said = "";
for await (const chunk of child.stdout) {
  said += chunk;
  if (/Takes spans at/.test(said)) break;
}
const [, url] = /Takes spans at (\S+)/.exec(said) ?? [];
const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
let sent = 0;
let copies = 0;
let refused = 0;
let resets = 0;
async function sender() {
  const own = Buffer.from(body);
  while (sent < total) {
    sent += spans;
    const copy = Buffer.alloc(4);
    copy.writeUInt32BE(copies++);
    for (const from of at) {
      if (form === "json") own.write(copy.toString("hex"), from, "latin1");
      else copy.copy(own, from);
    }
    const status = await post(own);
    if (status !== 200) refused += 1;
  }
}
/** Sent again if the connection was closed before, as exporters do. */
async function post(bytes) {
  for (;;) {
    try {
      return await posted(bytes);
    } catch (error) {
      if (error.code !== "ECONNRESET") throw error;
      resets += 1;
    }
  }
}

function posted(bytes) {
  return new Promise((resolve, reject) => {
    const type = form === "json" ? "application/json" : "application/x-protobuf";
    const headers = { "content-type": type, "content-length": bytes.length };
    request(`${url}/v1/traces`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    })
      .on("error", reject)
      .end(bytes);
  });
}
const before = await cost();
const began = performance.now();
await Promise.all(Array.from({ length: SENDERS }, sender));
const seconds = (performance.now() - began) / 1000;
const after = await cost();
const found = {
  form,
  spans: sent,
  "bytes of a span": Math.round(body.length / spans),
  "CPU, µs a span": (((after.cpuS - before.cpuS) * 1e6) / sent).toFixed(1),
  "spans a second": Math.round(sent / seconds),
  "requests refused": refused,
  "connections lost": resets,
  "most memory, MB": Math.round(after.mb),
};
show("view-receiver", [found], "one process");
child.kill("SIGINT");
agent.destroy();
await once(child, "exit");
