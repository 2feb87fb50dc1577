import type { Histogram } from "@opentelemetry/api";
import {
  type Instant,
  type ModelEnd,
  millisecondsBetween,
  type SpanAttributes,
  type SpanAttributeValue,
} from "../../events/door.ts";
import type { ModelCall } from "../lifecycle/door.ts";
import { decimalOf, unusable } from "./figures.ts";
import type { Instruments } from "./instruments.ts";
import type { LabelOption } from "./label-values.ts";
import { ModelSeriesCache, TOKEN_PARTS } from "./model-series.ts";
import type { Series } from "./series-table.ts";

/** Takes measurements. It counts replaced labels and catches errors. */
export interface Measurer {
  record(histogram: Histogram, value: number, series: Series): void;
  count(series: Series, by: number): void;
  fail(error: unknown): void;
}

const INPUT = "gen_ai.usage.input_tokens";
const OUTPUT = "gen_ai.usage.output_tokens";

/** Measures model calls: duration, time to the first output, tokens. */
export class ModelMetrics {
  readonly #instruments: Instruments;
  readonly #series: ModelSeriesCache;
  readonly #measurer: Measurer;

  /** @param models the cap of the models' labels. */
  constructor(instruments: Instruments, models: LabelOption, measurer: Measurer) {
    this.#instruments = instruments;
    this.#series = new ModelSeriesCache(instruments, models);
    this.#measurer = measurer;
  }

  /** @param error `error.type` of a call that failed. */
  measure(
    call: ModelCall<unknown>,
    at: Instant,
    { attributes = {}, model, sumsCalls = false }: ModelEnd,
    error: string | undefined,
  ): void {
    const { earlier: earlierInstruments, inferenceDuration, operationDuration } = this.#instruments;
    const responseModel = textOf(attributes["gen_ai.response.model"]);
    const series = this.#series.of({
      operation: call.operation,
      provider: textOf(attributes["gen_ai.provider.name"]) ?? call.provider,
      model: call.model ?? model ?? responseModel,
      responseModel,
      server: textOf(attributes["server.address"]) ?? call.server,
      port: numberOf(attributes["server.port"]) ?? call.port,
    });
    const { earlier, isInference } = series;
    const seconds = millisecondsBetween(call.startedAt, at) / 1000;
    const duration = isInference ? inferenceDuration : operationDuration;
    if (!sumsCalls) this.#measurer.record(duration, seconds, series.durations.of(error));
    const input = this.#figure(attributes, INPUT);
    const output = this.#figure(attributes, OUTPUT);
    if (input !== undefined) this.#measurer.count(series.inputTokens, input);
    if (output !== undefined) this.#measurer.count(series.outputTokens, output);
    for (const part of TOKEN_PARTS) {
      const figure = this.#figure(attributes, part);
      if (figure !== undefined) this.#measurer.count(series.part(part), figure);
    }
    const first = this.#figure(attributes, "gen_ai.response.time_to_first_chunk");
    if (isInference && !sumsCalls) {
      const { firstChunk, inputPerCall, outputPerCall } = this.#instruments;
      this.#recordKnown(inputPerCall, input, series.inputPerCall.of(error));
      this.#recordKnown(outputPerCall, output, series.outputPerCall.of(error));
      this.#recordKnown(firstChunk, first, series.firstChunk);
    }
    if (earlier === undefined || earlierInstruments === undefined) return;
    if (isInference && !sumsCalls) {
      this.#measurer.record(operationDuration, seconds, earlier.durations.of(error));
      this.#recordKnown(earlierInstruments.firstChunk, first, earlier.firstChunk);
    }
    // Also of several calls, because no other metric under the names before has the tokens.
    this.#recordKnown(earlierInstruments.tokenUsage, input, earlier.input.of(error));
    this.#recordKnown(earlierInstruments.tokenUsage, output, earlier.output.of(error));
  }

  /** A figure of the call, if it has one. An invalid figure is reported. */
  #figure(attributes: SpanAttributes, name: string): number | undefined {
    const given = attributes[name];
    if (given === undefined || given === null) return undefined;
    const figure = decimalOf(given);
    if (figure === undefined) this.#measurer.fail(unusable(name, given));
    return figure;
  }

  #recordKnown(histogram: Histogram, value: number | undefined, series: Series): void {
    if (value !== undefined) this.#measurer.record(histogram, value, series);
  }
}

function textOf(value: SpanAttributeValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: SpanAttributeValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
