import { fieldIn, listOf } from "../core/door.ts";
import {
  OPENAI_AGENTS_PROCESSOR,
  OpenAIAgentsProcessor,
} from "../openai-agents/openai-agents-processor.ts";
import type { Reporting } from "./agent-sink.ts";

/** The global in which all copies of the SDK share their trace provider. */
const PROVIDER = Symbol.for("openai.agents.core.traceProvider");

/** Maximum time for the last spans, in ms. */
const FLUSH_MS = 2_000;

/** Follows every trace, unless the application added a processor of this package itself. */
class AutomaticProcessor extends OpenAIAgentsProcessor {
  /** Whether the application added its own processor. */
  isReplaced = false;

  override onTraceStart(...[trace]: Parameters<OpenAIAgentsProcessor["onTraceStart"]>) {
    return this.isReplaced ? Promise.resolve() : super.onTraceStart(trace);
  }

  override onSpanStart(...[span]: Parameters<OpenAIAgentsProcessor["onSpanStart"]>) {
    return this.isReplaced ? Promise.resolve() : super.onSpanStart(span);
  }
}

/**
 * Adds a processor to the SDK's provider as soon as it exists. The SDK need not be loaded. The processor stays if
 * others are set, as `@openai/agents` does when it is loaded.
 */
export function enableOpenAIAgents(reporting: Reporting): void {
  const processor = new AutomaticProcessor({ ...reporting, flushTimeoutMs: FLUSH_MS });
  let provider: unknown = Reflect.get(globalThis, PROVIDER);
  if (provider !== undefined) {
    adopt(provider, processor);
    return;
  }
  Object.defineProperty(globalThis, PROVIDER, {
    configurable: true,
    get: () => provider,
    set(given: unknown) {
      provider = given;
      adopt(given, processor);
    },
  });
}

function adopt(provider: unknown, processor: AutomaticProcessor): void {
  const add = fieldIn(provider, "registerProcessor");
  const set = fieldIn(provider, "setProcessors");
  if (typeof provider !== "object" || provider === null) return;
  if (typeof add !== "function" || typeof set !== "function") return;
  Reflect.apply(add, provider, [processor]);
  Reflect.set(provider, "registerProcessor", (given: unknown) => {
    if (isOurs(given)) processor.isReplaced = true;
    Reflect.apply(add, provider, [given]);
  });
  Reflect.set(provider, "setProcessors", (given: unknown) => {
    const processors = listOf(given) ?? [];
    processor.isReplaced = processors.some(isOurs);
    Reflect.apply(set, provider, [[...processors, processor]]);
  });
}

function isOurs(processor: unknown): boolean {
  return fieldIn(processor, OPENAI_AGENTS_PROCESSOR) === true;
}
