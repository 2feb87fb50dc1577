// The door of `bridge/spans`: from the lifecycle to OpenTelemetry spans. Other parts of the room import from here.

export { type ContentOptions, ContentPolicy, capturesByEnvironment } from "./content.ts";
export { type AttributeHook, CustomAttributes, type SpanInfo } from "./custom-attributes.ts";
export { flushProvider } from "./flush-provider.ts";
export { createIdGenerator, type IdGeneratorLike, idSlot } from "./id-generator.ts";
export { type AuditAnchor, OtelDriver } from "./otel-driver.ts";
export {
  type CarrierFormat,
  currentRunContext,
  type ExtractOptions,
  extract,
  extractedRunContext,
  type InjectOptions,
  inject,
  RunContextPropagator,
} from "./propagation.ts";
export { provenanceOf, RunContexts, runContextOf } from "./run-contexts.ts";
export { RunOwners } from "./run-owners.ts";
export { nameIn } from "./span-ends.ts";
export { callIn, isDerivedParent, SpanHandle, type SpanRefs, spanRefs } from "./span-handle.ts";
export { SpanPort, tracerOf } from "./span-port.ts";
export { UNTRACED } from "./suppressed-tracing.ts";
export { parseTraceparent } from "./traceparent.ts";
export { checkWait, LONGEST_WAIT_MS, within } from "./within.ts";
