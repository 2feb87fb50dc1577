// Each instrumentation of the AI SDK as a telemetry integration, on the same provider. Content is on in all.
import { OpenTelemetry } from "@ai-sdk/otel";
import { LangfuseVercelAiSdkIntegration } from "@langfuse/vercel-ai-sdk";
import { langfuseProcessor } from "./langfuse-processor.mjs";
import { ourVariants } from "./our-variants.mjs";
import { providerOf } from "./seen-spans.mjs";

const nothing = async () => {};

/** Name to what makes its integration, given a span processor. */
export const VARIANTS = {
  none: () => ({ handler: {}, flush: nothing }),
  ...ourVariants("ai-sdk", ({ AiSdkTelemetry }, sink) => {
    const handler = new AiSdkTelemetry({ sink, tenant: "acme" });
    return { handler, flush: () => handler.flush() };
  }),
  "ai-sdk-otel"(spanProcessor) {
    const tracer = providerOf(spanProcessor).getTracer("bench");
    return { handler: new OpenTelemetry({ tracer }), flush: nothing };
  },
  langfuse(spanProcessor) {
    const tracer = providerOf(spanProcessor).getTracer("bench");
    return { handler: new LangfuseVercelAiSdkIntegration({ tracer }), flush: nothing };
  },
  "langfuse-processor"(spanProcessor) {
    const own = langfuseProcessor(spanProcessor);
    const { handler } = VARIANTS.langfuse(own);
    return { handler, flush: () => own.forceFlush(), hasProcessor: true };
  },
};
