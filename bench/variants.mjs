// The two sides of a comparison. One variant beside the base in a process: more would share call sites.
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
} from "@opentelemetry/sdk-trace-node";
import { built } from "./built.mjs";
import { handWrittenRun, nextIds } from "./hand-written.mjs";

const { Bridge, createIdGenerator } = await built("index.mjs");

const NOTHING = {
  onStart() {},
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

const provider = (sampled, idGenerator, processors = [NOTHING]) =>
  new BasicTracerProvider({
    sampler: sampled ? new AlwaysOnSampler() : new AlwaysOffSampler(),
    spanProcessors: processors,
    idGenerator,
  });

/** Hand-written SDK calls. */
export function handWritten(sampled, processors) {
  const tracer = provider(sampled, nextIds, processors).getTracer("entelix-otel");
  return (runs) => {
    for (const events of runs) handWrittenRun(tracer, events);
  };
}

/** The bridge without an audit side. */
export function bridge(sampled, processors) {
  const tracerProvider = provider(sampled, createIdGenerator(), processors);
  return sending(new Bridge({ tracerProvider }));
}

/** Runs, event by event into a sink. */
export function sending(sink) {
  return (runs) => {
    for (const events of runs) {
      for (let k = 0; k < events.length; k++) sink.send(events[k]);
    }
  };
}

export const VARIANTS = {
  "hand-written": handWritten,
  bridge,
};
