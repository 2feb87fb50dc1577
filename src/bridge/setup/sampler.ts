import { type Attributes, type Context, type Link, type SpanKind, trace } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import { isDerivedParent } from "../spans/span-handle.ts";
import { environmentText, warnOfNoEffect, warnOfVariable } from "./environment-variables.ts";

/**
 * Follows the parent's decision. It asks the root sampler if there is no parent, or if the parent has derived
 * IDs and its decision is unknown. That sampler decides by trace ID, so all processes of a trace decide
 * the same.
 */
class FollowingSampler implements Sampler {
  readonly #root: Sampler;
  readonly #followed: Sampler;

  constructor(root: Sampler) {
    this.#root = root;
    this.#followed = new ParentBasedSampler({ root });
  }

  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    return isDerivedParent(context)
      ? this.#root.shouldSample(trace.deleteSpan(context), traceId, name, kind, attributes, links)
      : this.#followed.shouldSample(context, traceId, name, kind, attributes, links);
  }

  toString(): string {
    return `Following{root=${this.#root.toString()}}`;
  }
}

/**
 * Creates the sampler that `setupTracing` installs, for use with your own provider. It is
 * parent-based, but ignores parents that are only derived from `root_run_id` or `parent_run_id`.
 *
 * @param root the sampler for traces that begin here. It should decide by trace ID.
 *
 * @example
 * const provider = new TracerProvider({
 *   idGenerator: createIdGenerator(),
 *   sampler: createSampler(new TraceIdRatioBasedSampler(0.1)),
 * });
 */
export function createSampler(root: Sampler): Sampler {
  return new FollowingSampler(root);
}

const EXPECTED =
  "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or " +
  "parentbased_traceidratio";

/**
 * The sampler in `OTEL_TRACES_SAMPLER`, in any case, and `OTEL_TRACES_SAMPLER_ARG`. A sampler that is not parent-based
 * decides for every span. Default, also for unknown names: `parentbased_always_on`.
 */
export function samplerFromEnvironment(): Sampler {
  const name = environmentText("OTEL_TRACES_SAMPLER")?.toLowerCase();
  if (environmentText("OTEL_TRACES_SAMPLER_ARG") !== undefined && !name?.endsWith("traceidratio")) {
    warnOfNoEffect(
      "OTEL_TRACES_SAMPLER_ARG",
      "set OTEL_TRACES_SAMPLER=parentbased_traceidratio, too",
    );
  }
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratioFromEnvironment());
    case "parentbased_always_off":
      return createSampler(new AlwaysOffSampler());
    case "parentbased_traceidratio":
      return createSampler(new TraceIdRatioBasedSampler(ratioFromEnvironment()));
    case undefined:
    case "parentbased_always_on":
      return createSampler(new AlwaysOnSampler());
    default:
      warnOfVariable("OTEL_TRACES_SAMPLER", name, EXPECTED, "parentbased_always_on");
      return createSampler(new AlwaysOnSampler());
  }
}

function ratioFromEnvironment(): number {
  const text = environmentText("OTEL_TRACES_SAMPLER_ARG");
  const ratio = text === undefined ? Number.NaN : Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  warnOfVariable("OTEL_TRACES_SAMPLER_ARG", text ?? "", "a number from 0 to 1", "1");
  return 1;
}
