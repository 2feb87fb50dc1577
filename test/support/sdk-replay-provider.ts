import type { Resource } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  NodeTracerProvider,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-node";
import { createIdGenerator } from "../../src/index.ts";

/** The replay's provider as the SDK would make it: what our own must be equal to. */
export function createSdkReplayProvider(
  resource: Resource,
  outlet: { onEnd(span: ReadableSpan): void },
): NodeTracerProvider {
  return new NodeTracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    idGenerator: createIdGenerator(),
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: (span) => outlet.onEnd(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
    spanLimits: {
      attributeCountLimit: 128,
      attributeValueLengthLimit: Number.POSITIVE_INFINITY,
      linkCountLimit: 128,
      eventCountLimit: 128,
      attributePerEventCountLimit: 128,
      attributePerLinkCountLimit: 128,
    },
  });
}
