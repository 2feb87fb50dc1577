import { envDetector, type Resource, resourceFromAttributes } from "@opentelemetry/resources";

/** What spans say of the service they come from. */
export interface ServiceResource {
  readonly resource: Resource;
  readonly serviceName: string;
}

/** The name that the specification gives to a service without one. */
export const UNNAMED = "unknown_service";

/** What a command says where the service has no name. */
export const UNNAMED_HINT = `The spans belong to the service ${UNNAMED}: --service-name gives it its name.`;

/**
 * The resource of spans that are made again from a recording: that of the agent's service, as the
 * option or `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say, and nothing of this process,
 * this machine or this SDK, so that a second delivery makes the identical span.
 *
 * @param fallback the name where none is given.
 */
export function serviceResource(
  serviceName: string | undefined,
  fallback: string = UNNAMED,
): ServiceResource {
  const { attributes = {} } = envDetector.detect();
  const given = attributes["service.name"];
  const name = serviceName ?? (typeof given === "string" && given !== "" ? given : fallback);
  return {
    resource: resourceFromAttributes({ ...attributes, "service.name": name }),
    serviceName: name,
  };
}
