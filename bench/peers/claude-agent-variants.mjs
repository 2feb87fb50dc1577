// Each instrumentation of the Claude Agent SDK as the `query()` that an application calls, on the same provider.
// Content is on in all.
import { ClaudeAgentSDKInstrumentation } from "@arizeai/openinference-instrumentation-claude-agent-sdk";
import { sdk } from "./claude-agent-sdk.mjs";
import { langfuseProcessor } from "./langfuse-processor.mjs";
import { ourVariants } from "./our-variants.mjs";
import { providerOf } from "./seen-spans.mjs";

const nothing = async () => {};

/** Name to what makes its `query()`, given a span processor. */
export const VARIANTS = {
  none: () => ({ handler: sdk.query, flush: nothing }),
  ...ourVariants("claude-agent", ({ claudeAgent }, sink) => {
    const agent = claudeAgent({ sink, tenant: "acme" });
    return { handler: (params) => agent.query(sdk.query, params), flush: () => agent.flush() };
  }),
  openinference(spanProcessor) {
    const tracerProvider = providerOf(spanProcessor);
    const instrumentation = new ClaudeAgentSDKInstrumentation({ tracerProvider });
    // A copy: the SDK's own module is read-only, too, and the idle variant needs it as it is.
    const { query } = instrumentation.manuallyInstrument({ ...sdk });
    return { handler: query, flush: nothing };
  },
  /** Langfuse has no instrumentation of its own for this SDK: its users take this one. */
  "langfuse-processor"(spanProcessor) {
    const own = langfuseProcessor(spanProcessor);
    const { handler } = VARIANTS.openinference(own);
    return { handler, flush: () => own.forceFlush(), hasProcessor: true };
  },
};
