import type { Attributes, Span } from "@opentelemetry/api";
import type { SpanFinisher } from "../recorded-span.ts";
import { openInferenceOf, spanKindOf } from "./mapping.ts";

/** The values of the option `conventions`. */
export const CONVENTIONS = ["genai", "openinference", "both"] as const;

/**
 * The names of attributes on spans. `genai`: those of OpenTelemetry's GenAI conventions. `openinference`: those of
 * OpenInference, which Phoenix, Arize and Datadog read. `both`: either, which makes spans with content twice as large.
 */
export type Conventions = (typeof CONVENTIONS)[number];

/** Sets OpenInference's names at the end of each span: beside those of the GenAI conventions, or instead. */
export class OpenInferenceNames implements SpanFinisher {
  readonly #isAlone: boolean;

  /** @param isAlone whether a `gen_ai.*` attribute is left out where OpenInference has one for it. */
  constructor(isAlone: boolean) {
    this.#isAlone = isAlone;
  }

  takes(): boolean {
    return true;
  }

  opening(attributes: Attributes): Attributes {
    const kind = { "openinference.span.kind": spanKindOf(attributes) };
    if (!this.#isAlone) return { ...attributes, ...kind };
    const kept = Object.entries(attributes).filter(([name]) => !this.withholds(name));
    return { ...Object.fromEntries(kept), ...kind };
  }

  withholds(name: string): boolean {
    return this.#isAlone && name.startsWith("gen_ai.");
  }

  finish(span: Span, finished: Attributes): void {
    const { attributes, covered } = openInferenceOf(finished);
    span.setAttributes(attributes);
    if (!this.#isAlone) return;
    for (const [name, value] of Object.entries(finished)) {
      if (value === undefined || !this.withholds(name) || covered.has(name)) continue;
      span.setAttribute(name, value);
    }
  }
}
