import { Writable } from "node:stream";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import {
  BroadcastSink,
  CaptureSink,
  type ClosableSink,
  FailOpenSink,
  FanOutSink,
  type InnerSink,
  RecorderSink,
  StateErasureSink,
} from "../../../src/entries/sinks.ts";
import { type AgentEvent, Bridge, type EventEnvelope } from "../../../src/index.ts";
import { collectSpans, fingerprint } from "../../support/spans.ts";

/** A sink of the library that is documented to throw nothing into the agent. */
export interface SinkUnderTest {
  readonly name: string;
  /** It may reject at `started` and `complete`, since it has an audit log. */
  readonly audited?: boolean;
  /** It writes the events out whole, which takes its time where they have no end. */
  readonly records?: boolean;
  make(): MadeSink;
}

export interface MadeSink {
  readonly sink: Pick<InnerSink, "send"> & Partial<ClosableSink>;
  /** What it has made of a trace so far, comparable; `undefined` where it makes no spans. */
  readonly spansOf?: (traceId: string) => readonly string[];
}

function withSpans(
  make: (provider: ReturnType<typeof collectSpans>["provider"]) => MadeSink["sink"],
): MadeSink {
  const { provider, spans } = collectSpans();
  const ofTrace = (traceId: string) =>
    spans()
      .filter((span) => span.spanContext().traceId === traceId)
      .map(fingerprint);
  return { sink: make(provider), spansOf: ofTrace };
}

export const SINKS: readonly SinkUnderTest[] = [
  {
    name: "Bridge",
    make: () => withSpans((tracerProvider) => new Bridge({ tracerProvider, onError: quiet })),
  },
  {
    name: "Bridge with content",
    make: () =>
      withSpans(
        (tracerProvider) => new Bridge({ tracerProvider, captureContent: true, onError: quiet }),
      ),
  },
  {
    name: "Bridge with an audit log",
    audited: true,
    make: () =>
      withSpans(
        (tracerProvider) =>
          new Bridge({ tracerProvider, audit: new MemorySessionLog(), onError: quiet }),
      ),
  },
  {
    name: "Bridge in replay",
    make: () =>
      withSpans((tracerProvider) => new Bridge({ tracerProvider, mode: "replay", onError: quiet })),
  },
  {
    name: "FanOutSink",
    records: true,
    make: () =>
      withSpans((tracerProvider) => {
        const bridge = new Bridge({ tracerProvider, onError: quiet });
        const recorder = new RecorderSink({ stream: nowhere(), source: bridge });
        return new FanOutSink([
          bridge,
          new FailOpenSink(recorder, { onError: quiet }),
          new CaptureSink(),
          new FailOpenSink(new StateErasureSink(new CaptureSink()), { onError: quiet }),
          new BroadcastSink(),
        ]);
      }),
  },
];

function quiet(): void {}

/** A stream that takes all. */
function nowhere(): Writable {
  return new Writable({ write: (_, __, done) => done() });
}

/** Sends what a program without types might send. */
export function sendAnything(
  sink: MadeSink["sink"],
  event: unknown,
  envelope: unknown,
): void | Promise<void> {
  const send: (event: AgentEvent, envelope?: EventEnvelope) => void | Promise<void> = sink.send;
  return Reflect.apply(send, sink, [event, envelope]);
}
