import type { ModelOperation } from "../../events/door.ts";
import type { Instruments } from "./instruments.ts";
import { type LabelOption, LabelValues } from "./label-values.ts";
import { OTHER } from "./metric-names.ts";
import { FallibleSeries, type LabelValue, type Series } from "./series-table.ts";

/** Most providers, and most servers, that keep their name. */
const MOST_NAMES = 20;

/** Most combinations of labels. Above it, the answering model and the server are `_other`. */
const MOST_MODELS = 2_000;

/** Sources do not report whether tokens are of text, images or sound. */
const MODALITY = "unknown";

/** Parts of a call's tokens. Not every provider has them, so their series start with the first figure. */
export const TOKEN_PARTS = [
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.usage.cache_write.input_tokens",
  "gen_ai.usage.reasoning.output_tokens",
] as const;
export type TokenPart = (typeof TOKEN_PARTS)[number];

/** The names of a model call. All but the operation may be unknown. */
export interface ModelNames {
  readonly operation: ModelOperation;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly responseModel: string | undefined;
  readonly server: string | undefined;
  readonly port: number | undefined;
}

/** The series of the calls with one set of names. */
export class ModelSeries {
  readonly isInference: boolean;
  /** By `error.type`, as all that have one. */
  readonly durations: FallibleSeries;
  readonly inputPerCall: FallibleSeries;
  readonly outputPerCall: FallibleSeries;
  readonly firstChunk: Series;
  readonly inputTokens: Series;
  readonly outputTokens: Series;
  /** Under the earlier names. */
  readonly earlier: EarlierModelSeries | undefined;
  readonly #parts = new Map<TokenPart, Series>();
  readonly #instruments: Instruments;
  readonly #labels: readonly LabelValue[];

  constructor(instruments: Instruments, operation: ModelOperation, labels: readonly LabelValue[]) {
    const {
      firstChunks,
      inferenceDurations,
      inputPerCalls,
      inputTokens,
      operationDurations,
      outputPerCalls,
      outputTokens,
    } = instruments;
    this.#instruments = instruments;
    this.#labels = labels;
    this.isInference = operation === "chat";
    const durations = this.isInference ? inferenceDurations : operationDurations;
    this.durations = new FallibleSeries((error) => durations.of(...labels, error));
    this.inputPerCall = new FallibleSeries((error) => inputPerCalls.of(...labels, error));
    this.outputPerCall = new FallibleSeries((error) => outputPerCalls.of(...labels, error));
    this.firstChunk = firstChunks.of(...labels);
    this.inputTokens = inputTokens.of(...labels, MODALITY);
    this.outputTokens = outputTokens.of(...labels, MODALITY);
    this.earlier = instruments.earlier && new EarlierModelSeries(instruments, labels);
  }

  /** The series of a part of the tokens. */
  part(part: TokenPart): Series {
    const there = this.#parts.get(part);
    if (there !== undefined) return there;
    const made = this.#instruments.tokenParts[part].of(...this.#labels, MODALITY);
    this.#parts.set(part, made);
    return made;
  }
}

/** The same calls under the names before. */
class EarlierModelSeries {
  readonly durations: FallibleSeries;
  readonly input: FallibleSeries;
  readonly output: FallibleSeries;
  readonly firstChunk: Series;

  constructor(instruments: Instruments, labels: readonly LabelValue[]) {
    const { earlierFirstChunks, operationDurations, tokenUsages } = instruments;
    this.durations = new FallibleSeries((error) => operationDurations.of(...labels, error));
    this.input = new FallibleSeries((error) => tokenUsages.of(...labels, error, "input"));
    this.output = new FallibleSeries((error) => tokenUsages.of(...labels, error, "output"));
    this.firstChunk = earlierFirstChunks.of(...labels);
  }
}

/** Finds the series of a model call by its names. The size is bounded for any names. */
export class ModelSeriesCache {
  readonly #instruments: Instruments;
  readonly #providers = new LabelValues(MOST_NAMES);
  readonly #servers = new LabelValues(MOST_NAMES);
  readonly #models: LabelValues;
  /** Apart from those that were requested, which often have shorter names. */
  readonly #answered: LabelValues;
  readonly #series = new Map<string, ModelSeries>();

  /** @param models the cap of the models' labels. */
  constructor(instruments: Instruments, models: LabelOption) {
    this.#instruments = instruments;
    this.#models = new LabelValues(models);
    this.#answered = new LabelValues(models);
  }

  of(names: ModelNames): ModelSeries {
    const { operation, port, responseModel, server } = names;
    const provider = this.#providers.of(names.provider);
    const model = this.#models.of(names.model);
    const answered = responseModel === undefined ? undefined : this.#answered.of(responseModel);
    const host = server === undefined ? undefined : this.#servers.of(server);
    const exact = [operation, provider, model, answered, host, host === OTHER ? undefined : port];
    const there = this.#series.get(exact.join(SEPARATOR));
    if (there !== undefined) return there;
    if (this.#series.size < MOST_MODELS) return this.#add(operation, exact);
    const coarse = [operation, provider, model, otherOf(answered), otherOf(host), undefined];
    return this.#series.get(coarse.join(SEPARATOR)) ?? this.#add(operation, coarse);
  }

  #add(operation: ModelOperation, labels: readonly LabelValue[]): ModelSeries {
    const made = new ModelSeries(this.#instruments, operation, labels);
    this.#series.set(labels.join(SEPARATOR), made);
    return made;
  }
}

/** Joins labels to a key. A name with this character would share the series of another; no harm follows. */
const SEPARATOR = "\u0000";

function otherOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : OTHER;
}
