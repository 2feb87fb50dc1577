import type { TracerProvider } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  NodeTracerProvider,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { createIdGenerator } from "../id-generator.ts";

/**
 * A tracer provider that keeps every span: nothing is sampled away, no queue drops, and neither the
 * sampler nor the span limits come from the environment, so that the same events give the same spans
 * wherever they are replayed.
 */
export function createReplayProvider(resource: Resource, outlet: SpanProcessor): TracerProvider {
  return new NodeTracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    idGenerator: createIdGenerator(),
    spanProcessors: [outlet],
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
