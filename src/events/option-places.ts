/**
 * Where an option belongs that was given elsewhere. The main types of options only: a test compares the names with
 * their types. Names that several of them have are left out.
 */
export const OPTION_PLACES = {
  "setupTracing() or setupTelemetry()": [
    "serviceName",
    "resourceAttributes",
    "endpoint",
    "headers",
    "queueBytes",
    "sampler",
    "spanProcessors",
    "register",
    "handleSignals",
    "handleErrors",
    "metricIntervalMs",
    "metricReaders",
  ],
  "createBridge() or new Bridge()": [
    "captureContent",
    "redact",
    "redactOnce",
    "messages",
    "maxValueBytes",
    "maxMessageBytes",
    "maxStatusBytes",
    "maxStackBytes",
    "attributes",
    "exceptions",
    "rootParent",
    "resolveParent",
    "benignFailureKinds",
    "steps",
    "approvalPerson",
    "progress",
    "audit",
    "rows",
    "meterProvider",
    "tracerProvider",
    "metrics",
  ],
  "the adapter or runAgent()": ["sink", "tenant", "price", "isFailure"],
  "the adapter": ["context", "decidedBy", "pausedRuns"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Names that other packages have for an option. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  agentName: ["agent"],
  apiKey: ["headers"],
  attributes: ["resourceAttributes"],
  captureInputs: ["captureContent"],
  captureOutputs: ["captureContent"],
  collectorUrl: ["endpoint"],
  content: ["captureContent"],
  conversationId: ["threadId", "thread"],
  exporterEndpoint: ["endpoint"],
  name: ["serviceName", "agent"],
  sampleRate: ["sampler"],
  samplingRate: ["sampler"],
  service: ["serviceName"],
  serviceVersion: ["resourceAttributes"],
  sessionId: ["session", "context"],
  tenantId: ["tenant"],
  threadId: ["thread"],
  tracesSampleRate: ["sampler"],
  url: ["endpoint"],
  userId: ["user", "context"],
};

/**
 * What an unknown option may have meant.
 *
 * @param known the options that exist where it was given.
 * @returns the option, and what to do. `undefined` if nothing is known of it.
 */
export function meantBy(
  name: string,
  known: readonly string[],
): { readonly option: string; readonly text: string } | undefined {
  const others = Object.hasOwn(OTHER_NAMES, name) ? (OTHER_NAMES[name] ?? []) : [];
  const here = others.find((other) => known.includes(other));
  if (here !== undefined) return { option: here, text: `did you mean \`${here}\`?` };
  for (const meant of [name, ...others]) {
    for (const [place, names] of Object.entries(OPTION_PLACES)) {
      if (!names.some((one) => one === meant)) continue;
      return { option: meant, text: `pass \`${meant}\` to ${place}` };
    }
  }
  return undefined;
}
