import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ClientRequest } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { setupTracing } from "../../src/entries/setup.ts";
import { RandomValues } from "../bridge/export/support/random-values.ts";
import { arrivedSpans } from "./support/export-arrived-spans.ts";
import { ExportCollector } from "./support/export-collector.ts";
import { madeSpan } from "./support/export-made-span.ts";
import { makeOddSpan } from "./support/export-odd-spans.ts";
import type { WholeSpan } from "./support/export-whole-span.ts";
import { field } from "./support/json-shape.ts";

const SPANS = 2_000;
const SCOPES = ["one", "two", "", "мир"];

/** Texts that the shipped collector has no reason to cut. */
class ShortTexts extends RandomValues {
  override text(): string {
    return super.text().slice(0, 80);
  }
}

/** Odd spans, sent to an endpoint. @returns as they were when they ended. */
async function send(endpoint: string, values: RandomValues): Promise<WholeSpan[]> {
  const made: WholeSpan[] = [];
  const none = async () => {};
  const keeper = {
    onStart: () => {},
    onEnd: (span: Parameters<typeof madeSpan>[0]) => void made.push(madeSpan(span)),
    forceFlush: none,
    shutdown: none,
  };
  const tracing = setupTracing({
    serviceName: "odd",
    resourceAttributes: { whole: 7, half: 0.5, none: [], texts: ["a", "é😀"], yes: true },
    endpoint,
    register: false,
    shutdownTimeoutMs: 60_000,
    spanProcessors: [keeper],
  });
  const tracers = SCOPES.map((name, n) =>
    tracing.tracerProvider.getTracer(name, n % 2 === 0 ? "1.2.3" : undefined, {
      ...(n < 2 ? { schemaUrl: "https://opentelemetry.io/schemas/1.40.0" } : {}),
    }),
  );
  for (let n = 0; n < SPANS; n++) makeOddSpan(values, values.of(tracers));
  await tracing.shutdown();
  // The others have a parent that is not sampled.
  expect(made.length).toBeGreaterThan(SPANS / 2);
  const counts = { ended: made.length, exported: made.length, pending: 0 };
  expect(tracing.diagnostics()).toMatchObject(counts);
  return made;
}

const byId = (spans: readonly WholeSpan[]) =>
  [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));

let collector: ExportCollector;
/** `Content-Encoding` of each request that this process made. */
const encodings: unknown[] = [];
const noteEncoding = (message: unknown) => {
  const request = field(message, "request");
  if (request instanceof ClientRequest) encodings.push(request.getHeader("content-encoding"));
};

beforeAll(async () => {
  collector = await ExportCollector.start();
  subscribe("http.client.request.start", noteEncoding);
});
afterAll(async () => {
  unsubscribe("http.client.request.start", noteEncoding);
  await collector?.stop();
});

describe.each(["none", "gzip"])("what setupTracing sends in protobuf, compression %s,", (how) => {
  beforeEach(() => {
    encodings.length = 0;
    vi.stubEnv("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", how);
    collector.downstream.requests.length = 0;
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    expect(new Set(encodings)).toEqual(new Set([how === "gzip" ? "gzip" : undefined]));
  });

  const arrived = () => collector.downstream.requests.flatMap(({ body }) => arrivedSpans(body));

  it("comes out of the collector as it was made, whatever it holds", async () => {
    const made = await send(collector.rawEndpoint, new RandomValues(how.length));
    expect(byId(arrived())).toEqual(byId(made));
  });

  it("comes through the shipped configuration as it was made", async () => {
    const made = await send(collector.endpoint, new ShortTexts(8 + how.length));
    expect(byId(arrived())).toEqual(byId(made));
  });
});
