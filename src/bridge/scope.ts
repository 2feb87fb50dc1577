import { VERSION } from "../version.ts";

/**
 * The schema that the manifest of the GenAI conventions names. It has no release yet, and nothing is published at this
 * address: it tells readers which names to expect.
 */
const schemaUrl = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";

/** The arguments of `getTracer`, `getMeter` and `getLogger`: the scope of everything that the bridge makes. */
export const SCOPE = ["entelix-otel", VERSION, { schemaUrl }] as const;
