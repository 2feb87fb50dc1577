import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type TimeInput,
  trace,
} from "@opentelemetry/api";
import type { LogEvent } from "../../events/door.ts";
import type { LoggerLike, LoggerProviderLike, LogValue } from "../progress-options.ts";
import { SCOPE } from "../scope.ts";
import type { SpanFinisher } from "./recorded-span.ts";

const EVENT: LogEvent = "gen_ai.client.inference.operation.details";

/** As the conventions say: the record repeats the span, so it is of use only where spans are not. */
const DEBUG = { severityNumber: 5, severityText: "DEBUG" } as const;

/** Attributes that are JSON on spans. A log record can have them as they are. */
const STRUCTURED = [
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
];

/**
 * Writes the conventions' event about each model call: a log record with the attributes of its span, at the end of the
 * span. Content is in it as far as it is on the span.
 */
export class CallDetails implements SpanFinisher {
  readonly #provider: () => LoggerProviderLike | undefined;
  #logger: LoggerLike | undefined;

  /** @param provider called for each model call until it returns one. */
  constructor(provider: () => LoggerProviderLike | undefined) {
    this.#provider = provider;
  }

  takes(attributes: Attributes): boolean {
    if (attributes["gen_ai.operation.name"] !== "chat") return false;
    this.#logger ??= this.#provider()?.getLogger(...SCOPE);
    return this.#logger !== undefined;
  }

  finish(span: Span, finished: Attributes, at: TimeInput | undefined): void {
    const attributes: Record<string, LogValue> = { ...finished };
    for (const name of STRUCTURED) {
      const given = attributes[name];
      if (typeof given === "string") attributes[name] = structured(given);
    }
    this.#logger?.emit({
      eventName: EVENT,
      ...(at === undefined ? {} : { timestamp: at }),
      ...DEBUG,
      attributes,
      context: trace.setSpanContext(ROOT_CONTEXT, span.spanContext()),
    });
  }
}

/** The value of a JSON text; the text itself if it is not JSON, for example because it was cut. */
function structured(text: string): LogValue {
  try {
    const value: LogValue = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** The global key of `@opentelemetry/api-logs`, and the version of its form. That package need not be installed. */
const GLOBAL_KEY = Symbol.for("io.opentelemetry.js.api.logs");
const GLOBAL_VERSION = 1;

/** The logger provider that is registered for the process. `undefined` without one. */
export function globalLoggerProvider(): LoggerProviderLike | undefined {
  const get: unknown = Reflect.get(globalThis, GLOBAL_KEY);
  const provider: unknown = typeof get === "function" ? get(GLOBAL_VERSION) : undefined;
  return isProvider(provider) ? provider : undefined;
}

function isProvider(value: unknown): value is LoggerProviderLike {
  return typeof value === "object" && value !== null && "getLogger" in value;
}
