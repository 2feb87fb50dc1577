import type { Instruments } from "./instruments.ts";
import type { LabelOption } from "./label-values.ts";
import { LabelValues } from "./label-values.ts";
import type { Series } from "./series-table.ts";
import { FallibleSeries } from "./series-table.ts";

/** Providers that are shown by name. */
const MOST_PROVIDERS = 20;

/** The conventions' name of what a model call does. */
const CHAT = "chat";
/** Sources do not say whether tokens are of text, images or sound. */
const MODALITY = "unknown";

/** The series of one model of one provider. */
export interface ModelSeries {
  /** Of its calls, by their `error.type`. */
  readonly durations: FallibleSeries;
  readonly inputTokens: Series;
  readonly outputTokens: Series;
}

/** Finds the series of a model call by names as they come. Bounded, whatever the names. */
export class ModelSeriesCache {
  readonly #instruments: Instruments;
  readonly #providers = new LabelValues(MOST_PROVIDERS);
  readonly #models: LabelValues;
  readonly #byProvider = new Map<string, Map<string, ModelSeries>>();

  /** @param models the cap of the label. */
  constructor(instruments: Instruments, models: LabelOption) {
    this.#instruments = instruments;
    this.#models = new LabelValues(models);
  }

  of(providerName: string | undefined, modelName: string | undefined): ModelSeries {
    const provider = this.#providers.of(providerName);
    const model = this.#models.of(modelName);
    let byModel = this.#byProvider.get(provider);
    if (byModel === undefined) {
      byModel = new Map();
      this.#byProvider.set(provider, byModel);
    }
    const there = byModel.get(model);
    if (there !== undefined) return there;
    const made = this.#make(provider, model);
    byModel.set(model, made);
    return made;
  }

  #make(provider: string, model: string): ModelSeries {
    const { inputTokens, modelDurations, outputTokens } = this.#instruments;
    return {
      durations: new FallibleSeries((error) => modelDurations.of(CHAT, provider, model, error)),
      inputTokens: inputTokens.of(CHAT, provider, model, MODALITY),
      outputTokens: outputTokens.of(CHAT, provider, model, MODALITY),
    };
  }
}
