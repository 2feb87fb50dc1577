// Each instrumentation of the OpenAI Agents SDK as a tracing processor, on the same provider. Content is on in all.
import { OpenAIAgentsInstrumentation } from "@arizeai/openinference-instrumentation-openai-agents";
import { langfuseProcessor } from "./langfuse-processor.mjs";
import { ourVariants } from "./our-variants.mjs";
import { providerOf } from "./seen-spans.mjs";

const nothing = async () => {};

/** Name to what makes its processor, given a span processor. */
export const VARIANTS = {
  none: () => ({ handler: IDLE, flush: nothing }),
  ...ourVariants("openai-agents", ({ OpenAIAgentsProcessor }, sink) => {
    const handler = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    return { handler, flush: () => handler.forceFlush() };
  }),
  openinference(spanProcessor) {
    const tracerProvider = providerOf(spanProcessor);
    let handler;
    const sdk = {
      setTraceProcessors([given]) {
        handler = given;
      },
      addTraceProcessor() {},
    };
    new OpenAIAgentsInstrumentation({ tracerProvider }).manuallyInstrument(sdk);
    return { handler, flush: nothing };
  },
  /** Langfuse has no instrumentation of its own for this SDK: its users take this one. */
  "langfuse-processor"(spanProcessor) {
    const own = langfuseProcessor(spanProcessor);
    const { handler } = VARIANTS.openinference(own);
    return { handler, flush: () => own.forceFlush(), hasProcessor: true };
  },
};

/** A processor that does nothing: the SDK's own tracing is paid for all the same. */
export const IDLE = {
  onTraceStart: nothing,
  onTraceEnd: nothing,
  onSpanStart: nothing,
  onSpanEnd: nothing,
  forceFlush: nothing,
  shutdown: nothing,
};
