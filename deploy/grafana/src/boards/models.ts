import type { Board, Section } from "../board.ts";
import { bars, heat, lines } from "../charts.ts";
import { brokenModelCalls, slowTraces, tenantBoard, tenantTraces } from "../destinations.ts";
import { figure, ranking, rows } from "../figures.ts";
import { ERROR_TYPE, JOB, MODEL, OPERATION, PROVIDER, TENANT } from "../labels.ts";
import { labelOf } from "../links.ts";
import { FAILURE_COLORS } from "../palette.ts";
import {
  grown,
  orZero,
  quantile,
  RANGE,
  type RenamedSeries,
  ratio,
  STEP,
  series,
  sum,
} from "../queries.ts";
import { chosen, OF_MODEL, OF_SERVICE } from "../scope.ts";
import { intervalVariable, modelVariable, serviceVariable, tenantVariable } from "../variables.ts";

/** Calls for answers, and those for embeddings: before #521 of the conventions they had one name. */
const callSeries = (part: "bucket" | "count", matchers: readonly string[]): RenamedSeries => ({
  now: series(`gen_ai_client_inference_duration_seconds_${part}`, ...matchers),
  before: series(`gen_ai_client_operation_duration_seconds_${part}`, ...matchers),
});

const durations = callSeries("bucket", [OF_SERVICE, OF_MODEL]);

/** Ended calls. `error_type` is there only where the call failed. */
const calls = (...matchers: readonly string[]): RenamedSeries =>
  callSeries("count", [OF_SERVICE, OF_MODEL, ...matchers]);
const BROKEN = 'error_type!=""';

const tokens = (type: "input" | "output"): RenamedSeries => ({
  now: series(`gen_ai_client_inference_usage_${type}_tokens_total`, OF_SERVICE, OF_MODEL),
  before: series(
    "gen_ai_client_token_usage_sum",
    OF_SERVICE,
    OF_MODEL,
    `gen_ai_token_type="${type}"`,
  ),
});

/** What failed of all that ended, by labels; 0 where nothing failed. */
const brokenShare = (labels: readonly string[], window: string): string => {
  const all = sum(labels, grown(calls(), window));
  return ratio(`(${sum(labels, grown(calls(BROKEN), window))} or 0 * ${all})`, all);
};

const numbers: Section = {
  title: "In the time range; all tenants together",
  lines: [
    {
      height: 4,
      panels: [
        figure({
          title: "Model calls",
          description:
            "Calls of the chosen models that ended, failed ones too. Those whose end nobody told are not here.",
          unit: "short",
          expr: sum([], grown(calls(), RANGE)),
          steps: ["text"],
        }),
        figure({
          title: "Calls failed",
          description:
            "Calls that gave no answer after their retries, also where the run went on. Benign failure kinds are not counted.",
          unit: "short",
          expr: orZero(sum([], grown(calls(BROKEN), RANGE))),
          steps: ["green", [1, "orange"]],
        }),
        figure({
          title: "Failure ratio",
          description: "Failed calls to all calls that ended.",
          unit: "percentunit",
          expr: brokenShare([], RANGE),
          steps: ["green", [0.02, "yellow"], [0.1, "red"]],
          decimals: 1,
        }),
        figure({
          title: "Duration, 95th percentile",
          description: "95 of 100 calls are faster, retries included.",
          unit: "s",
          expr: quantile(0.95, [], durations, RANGE),
          steps: ["text"],
          decimals: 1,
        }),
        figure({
          title: "Input tokens",
          description: "Input tokens of the calls whose end says so, cached ones included.",
          unit: "short",
          expr: sum([], grown(tokens("input"), RANGE)),
          steps: ["blue"],
          decimals: 1,
        }),
        figure({
          title: "Output tokens",
          description: "Output tokens of the calls whose end says so.",
          unit: "short",
          expr: sum([], grown(tokens("output"), RANGE)),
          steps: ["orange"],
          decimals: 1,
        }),
      ],
    },
  ],
};

const ends: Section = {
  title: "How many, and how they fail",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Model calls by model",
          description: "Calls that ended, failed ones too, by the model that was asked for.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, MODEL], grown(calls(), STEP)),
              legend: "{{gen_ai_request_model}} {{job}}",
            },
          ],
        }),
        bars({
          title: "Failed calls by error",
          description:
            "The failure kind of the call, or `_OTHER` where its source names none that is known. `model_dispatch` is the provider or the way to it.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, ERROR_TYPE], grown(calls(BROKEN), STEP)),
              legend: "{{error_type}} {{job}}",
            },
          ],
          colors: FAILURE_COLORS,
          links: [brokenModelCalls("series", {})],
        }),
      ],
    },
    {
      height: 8,
      widths: [8, 16],
      panels: [
        ranking({
          title: "Failure ratio by model",
          description: "Failed calls of a model to all its calls that ended.",
          unit: "percentunit",
          query: { expr: brokenShare([MODEL], RANGE), legend: "{{gen_ai_request_model}}" },
          max: 1,
          steps: ["green", [0.02, "yellow"], [0.1, "red"]],
        }),
        rows({
          title: "Failed calls by model and error",
          description:
            "Calls that failed in the time range. A click leads to the traces of that model and error.",
          unit: "short",
          labels: {
            [JOB]: "Service",
            [PROVIDER]: "Provider",
            [MODEL]: "Model",
            [ERROR_TYPE]: "Error",
          },
          values: [
            {
              expr: `${sum([JOB, PROVIDER, MODEL, ERROR_TYPE], grown(calls(BROKEN), RANGE))} > 0`,
              header: "Calls",
            },
          ],
          links: [brokenModelCalls("row", { "gen_ai.request.model": labelOf("row", MODEL) })],
        }),
      ],
    },
  ],
};

const time: Section = {
  title: "How long they take",
  lines: [
    {
      height: 8,
      panels: [
        heat({
          title: "Call duration",
          description: "Calls of the chosen models by duration, failed ones too.",
          unit: "s",
          axis: "duration",
          expr: sum(["le"], grown(durations, STEP)),
        }),
        lines({
          title: "Call duration, percentiles",
          description: "Half, 95 and 99 of 100 calls are faster.",
          unit: "s",
          queries: [0.5, 0.95, 0.99].map((share) => ({
            expr: quantile(share, [JOB], durations, STEP),
            legend: `p${share * 100} {{job}}`,
          })),
        }),
        lines({
          title: "Call duration by model, 95th percentile",
          description: "95 of 100 calls of the model are faster. The first output is on the spans.",
          unit: "s",
          queries: [
            {
              expr: quantile(0.95, [JOB, OPERATION, MODEL], durations, STEP),
              legend: "{{gen_ai_operation_name}} {{gen_ai_request_model}} {{job}}",
            },
          ],
          links: [slowTraces(`${labelOf("series", OPERATION)} ${labelOf("series", MODEL)}`)],
        }),
      ],
    },
  ],
};

const usage: Section = {
  title: "Tokens",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Input tokens by model",
          description: "What the calls were asked with, cached tokens included.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, MODEL], grown(tokens("input"), STEP)),
              legend: "{{gen_ai_request_model}} {{job}}",
            },
          ],
        }),
        bars({
          title: "Output tokens by model",
          description: "What the calls answered with.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, MODEL], grown(tokens("output"), STEP)),
              legend: "{{gen_ai_request_model}} {{job}}",
            },
          ],
        }),
        bars({
          title: "Tokens by tenant",
          description:
            "Input and output tokens of all models. The metrics of model calls have no tenant.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TENANT], grown(chosen("entelix_tokens_total"), STEP)),
              legend: "{{entelix_tenant_id}} {{job}}",
            },
          ],
          links: [tenantTraces("series", "complete"), tenantBoard("series")],
        }),
      ],
    },
    {
      height: 5,
      panels: [
        rows({
          title: "Calls and tokens by model",
          description: "In the time range, the model with the most calls on top.",
          unit: "short",
          labels: { [PROVIDER]: "Provider", [MODEL]: "Model" },
          values: [
            { expr: sum([PROVIDER, MODEL], grown(calls(), RANGE)), header: "Calls" },
            { expr: sum([PROVIDER, MODEL], grown(tokens("input"), RANGE)), header: "Input tokens" },
            {
              expr: sum([PROVIDER, MODEL], grown(tokens("output"), RANGE)),
              header: "Output tokens",
            },
          ],
        }),
      ],
    },
  ],
};

/** The calls of models, where agents tell of them: how many, how they fail, how long they take, what they use. */
export const models: Board = {
  key: "models",
  title: "Entelix: model calls",
  description: "How many calls of which models, how they fail, how long they take, their tokens.",
  variables: [serviceVariable(), tenantVariable(), modelVariable(), intervalVariable()],
  sections: [numbers, ends, time, usage],
};
