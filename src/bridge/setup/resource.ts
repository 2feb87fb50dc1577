import { randomUUID } from "node:crypto";
import type { Attributes } from "@opentelemetry/api";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { environmentText, warnOfVariable } from "./environment-variables.ts";

const SERVICE_NAME = "service.name";
const INSTANCE_ID = "service.instance.id";

/** Nothing but the name of the service. */
const ONLY_NAME = /^[\s,]*service\.name\s*=[^=,]*(?:,[\s,]*)?$/;

/** What says of which service the spans are, beside the environment. */
export interface ServiceOptions {
  readonly serviceName?: string | undefined;
  readonly resourceAttributes?: Attributes | undefined;
}

/**
 * The resource of the spans. In rising order of weight: the SDK's own attributes,
 * `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`, `resourceAttributes`, `serviceName`.
 * `service.instance.id` is a random UUID where none of them gives it: backends tell two processes
 * of a service apart by it.
 */
export function processResource(options: ServiceOptions): Resource {
  const named = options.serviceName === undefined ? {} : { [SERVICE_NAME]: options.serviceName };
  const given = defaultResource()
    .merge(resourceOfEnvironment())
    .merge(resourceFromAttributes({ ...options.resourceAttributes, ...named }));
  if (given.attributes[INSTANCE_ID] !== undefined) return given;
  return given.merge(resourceFromAttributes({ [INSTANCE_ID]: randomUUID() }));
}

function resourceOfEnvironment(): Resource {
  const resource = detectResources({ detectors: [envDetector] });
  const text = environmentText("OTEL_RESOURCE_ATTRIBUTES");
  if (text === undefined) return resource;
  const named = environmentText("OTEL_SERVICE_NAME") !== undefined;
  const taken = Object.keys(resource.attributes).filter((name) => !named || name !== SERVICE_NAME);
  // The detector gives up on the whole variable at the first fault, and says so to nobody. A name of
  // the service can be the other variable's, which would win anyway.
  if (taken.length === 0 && !(named && ONLY_NAME.test(text))) {
    const expected = "name=value pairs, comma-separated and percent-encoded";
    warnOfVariable("OTEL_RESOURCE_ATTRIBUTES", text, expected, "none of it");
  }
  return resource;
}
