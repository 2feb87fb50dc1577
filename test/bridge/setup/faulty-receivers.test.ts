import { expect, it } from "vitest";
import { setupTracing } from "../../../src/entries/setup.ts";
import { ProtobufServer, type Reply } from "../export/support/protobuf-server.ts";
import { isolateProcess } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { sendRun } from "./sample-run.ts";

isolateProcess();

/** More than one request may hold at a receiver with {@link LIMIT}. */
const RUNS = 20;
/** Bytes of a request that a receiver takes. */
const LIMIT = 2_000;

const answer = (status: number, body = "", type = "text/plain"): Reply => ({
  status,
  headers: { "content-type": type },
  body: Buffer.from(body),
});
const OTLP = "application/x-protobuf";
const taken = answer(200, "", OTLP);

/** An `ExportTraceServiceResponse` with a partial success: how many spans are rejected, and why. */
function partial(rejected: number, text: string): Reply {
  const message = Buffer.concat([Buffer.from([0x12, text.length]), Buffer.from(text)]);
  const inner = Buffer.concat([Buffer.from(rejected === 0 ? [] : [0x08, rejected]), message]);
  const body = Buffer.concat([Buffer.from([0x0a, inner.length]), inner]);
  return { status: 200, headers: { "content-type": OTLP }, body };
}

/** The setup shuts down after its runs. */
async function delivered(reply: (request: number, body: Buffer) => Reply) {
  await using server = await ProtobufServer.start(reply);
  const { losses, onError } = keepReports();
  const url = server.url.replace("/v1/traces", "");
  // A busy machine must not reach the limit.
  const tracing = setupTracing({ endpoint: url, onError, shutdownTimeoutMs: 100_000 });
  const sink = tracing.createBridge();
  for (let run = 0; run < RUNS; run += 1) {
    sendRun(sink, `018f3c7a-0000-7000-8000-0000000000${String(run).padStart(2, "0")}`);
  }
  await tracing.shutdown();
  const { exported, lost } = tracing.diagnostics();
  return {
    exported,
    rejected: lost.rejected,
    taken: server.names.length,
    said: losses("shutdown").map(({ message }) => message.replace(server.url, "URL")),
  };
}

const SPANS = 2 * RUNS;
const inParts = (refusal: Reply) => (_: number, body: Buffer) =>
  body.length > LIMIT ? refusal : taken;
const NOT_OTLP = "not an OTLP receiver: it answers 200 with";
const lostBy = (error: string, spans = SPANS) =>
  `${spans} spans lost (rejected ${spans}) of ${SPANS} that ended; last error of an export: ${error}`;

it.each<[string, (request: number, body: Buffer) => Reply]>([
  ["takes small requests only (413)", inParts(answer(413))],
  [
    "says with 400 that a request is too large",
    inParts(answer(400, "http: request body too large")),
  ],
  [
    "says with 429 that a request is too large",
    inParts(answer(429, "received message larger than max")),
  ],
  ["is busy at first (429)", (n) => (n === 0 ? answer(429) : taken)],
  ["is away at first (503)", (n) => (n === 0 ? answer(503) : taken)],
  ["answers with a warning", () => partial(0, "attribute limit near")],
])("every span arrives where the receiver %s", async (_, reply) => {
  expect(await delivered(reply)).toEqual({
    exported: SPANS,
    rejected: 0,
    taken: SPANS,
    said: [],
  });
});

it.each([202, 204])("%i without a body is a confirmation", async (status) => {
  expect(await delivered(() => ({ status }))).toMatchObject({ exported: SPANS, said: [] });
});

const USUAL = "OTLP/HTTP is usually on port 4318, at the path /v1/traces.";
const NO_RECEIVER = `Another server answers there, such as Jaeger's page (16686) or the collector's health check (13133). ${USUAL}`;
const REDIRECTED = "Set the endpoint to the address that it redirects to.";
const TEXT = "OTEL_LOG_LEVEL=debug shows its text.";

it.each([
  [
    "a page",
    answer(200, "<!doctype html><title>Login</title>", "text/html"),
    `${NOT_OTLP} text/html`,
    NO_RECEIVER,
  ],
  [
    "the answer of a health check",
    answer(200, '{"status":"ok"}', "application/json"),
    `${NOT_OTLP} application/json`,
    NO_RECEIVER,
  ],
  ["308", answer(308), "308 Permanent Redirect", REDIRECTED],
  ["302", answer(302), "302 Found", REDIRECTED],
  [
    "401",
    answer(401, "token expired"),
    "401 Unauthorized",
    "Set credentials in OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN.",
  ],
  ["404", answer(404, "no route"), "404 Not Found", `Another server answers there. ${USUAL}`],
  ["408", answer(408), "408 Request Timeout", TEXT],
  ["500", answer(500), "500 Internal Server Error", TEXT],
])("%s is no confirmation: the spans are lost and reported", async (_, reply, error, advice) => {
  const { said, ...counts } = await delivered(() => reply);
  expect(said).toEqual([lostBy(`${error} (from URL). ${advice}`)]);
  expect(counts).toMatchObject({ exported: 0, rejected: SPANS });
});

it("the spans that an answer rejects are lost and reported, the others are exported", async () => {
  const { said, ...counts } = await delivered(() => partial(3, "span too old"));
  expect(counts).toMatchObject({ exported: SPANS - 3, rejected: 3 });
  const error = "200 partial success; OTEL_LOG_LEVEL=debug shows the reason";
  expect(said).toEqual([lostBy(error, 3)]);
});
