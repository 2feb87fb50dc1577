// Each instrumentation of LangChain.js as a callback handler, on the same provider. Content is on in all of them.
import { createRequire } from "node:module";
import { LangChainInstrumentation as OpenInference } from "@arizeai/openinference-instrumentation-langchain";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { CallbackHandler } from "@langfuse/langchain";
import { setLangfuseTracerProvider } from "@langfuse/tracing";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { LangChainInstrumentation as Traceloop } from "@traceloop/instrumentation-langchain";
import { HandWritten } from "./hand-written-langchain.mjs";
import { langfuseProcessor } from "./langfuse-processor.mjs";
import { ourVariants } from "./our-variants.mjs";
import { providerOf } from "./seen-spans.mjs";

/** Two instrumentations are made for a hook in `CallbackManager`: this one gives the handler that they put in there. */
function handlerOf(instrument) {
  const manager = { _configureSync: (handlers) => handlers };
  instrument({ CallbackManager: manager });
  const [handler] = manager._configureSync([]);
  if (handler === undefined) throw new Error("expected a handler from the hook");
  return handler;
}

const require = createRequire(import.meta.url);
const nothing = async () => {};

/** A handler that does nothing: what LangChain does to call one is paid for all the same. */
export const IDLE = {
  name: "idle",
  awaitHandlers: true,
  handleChainStart() {},
  handleChainEnd() {},
  handleToolStart() {},
  handleToolEnd() {},
  handleChatModelStart() {},
  handleLLMEnd() {},
};

/** Name to what makes its handler, given a span processor. */
export const VARIANTS = {
  none: () => ({ handler: IDLE, flush: nothing }),
  ...ourVariants("langchain", ({ LangChainHandler }, sink) => {
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    return { handler, flush: () => handler.flush() };
  }),
  /** The least that the same spans cost: the SDK's calls by hand, JSON by the engine, and nothing else. */
  "hand-written": (processor) => ({
    handler: new HandWritten(providerOf(processor).getTracer("hand-written")),
    flush: nothing,
  }),
  openinference(processor) {
    const made = new OpenInference({ tracerProvider: providerOf(processor) });
    return { handler: handlerOf((module) => made.manuallyInstrument(module)), flush: nothing };
  },
  langfuse(processor) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    setLangfuseTracerProvider(providerOf(processor));
    return { handler: new CallbackHandler(), flush: nothing };
  },
  /** As its users have it: with its own span processor, which hands spans to an exporter. */
  "langfuse-processor"(processor) {
    const own = langfuseProcessor(processor);
    const { handler } = VARIANTS.langfuse(own);
    return { handler, flush: () => own.forceFlush(), hasProcessor: true };
  },
  traceloop(processor) {
    // It puts itself into every call of LangChain's when it is made; here it is given to a call, as the others are.
    CallbackManager._traceloopPatched = true;
    require("@langchain/core/callbacks/manager").CallbackManager._traceloopPatched = true;
    const made = new Traceloop({ traceContent: true });
    made.setTracerProvider(providerOf(processor));
    return {
      handler: handlerOf((module) => made.manuallyInstrument({ callbackManagerModule: module })),
      flush: nothing,
    };
  },
};
