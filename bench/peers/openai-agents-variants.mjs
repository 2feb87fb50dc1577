// Each instrumentation of the OpenAI Agents SDK as a tracing processor, on the same provider. Content is on in all.
import { OpenAIAgentsInstrumentation } from "@arizeai/openinference-instrumentation-openai-agents";
import { Bridge } from "entelix-otel";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { langfuseProcessor } from "./langfuse-processor.mjs";
import { providerOf } from "./seen-spans.mjs";

const nothing = async () => {};

const ours = (processor, options) => handled({ Bridge, OpenAIAgentsProcessor }, processor, options);

/** The package of another checkout: `bench/change.mjs` puts it beside this one. */
async function before(processor, options) {
  const [{ Bridge }, { OpenAIAgentsProcessor }] = await Promise.all([
    import("entelix-otel-before"),
    import("entelix-otel-before/openai-agents"),
  ]);
  return handled({ Bridge, OpenAIAgentsProcessor }, processor, options);
}

function handled({ Bridge, OpenAIAgentsProcessor }, spanProcessor, options) {
  const tracerProvider = providerOf(spanProcessor, { ours: true });
  const sink = new Bridge({ tracerProvider, captureContent: true, ...options });
  const handler = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
  return { handler, flush: () => handler.forceFlush() };
}

/** Name to what makes its processor, given a span processor. */
export const VARIANTS = {
  none: () => ({ handler: IDLE, flush: nothing }),
  ours: (spanProcessor) => ours(spanProcessor, {}),
  "ours without content": (spanProcessor) => ours(spanProcessor, { captureContent: false }),
  before: (spanProcessor) => before(spanProcessor, {}),
  "before without content": (spanProcessor) => before(spanProcessor, { captureContent: false }),
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
    return { handler, flush: () => own.forceFlush() };
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
