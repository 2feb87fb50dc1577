import { DEFAULT_KINDS } from "../../../slo/src/objective.ts";
import { RECORDS } from "../../../slo/src/records.ts";
import type { Labels, Recorder } from "./recorder.ts";

/** An objective as deploy/slo/objectives.yml has it. */
interface Sampled {
  readonly labels: Labels;
  readonly budget: number;
  readonly by: (run: SampledRun) => Labels | undefined;
  readonly bad: (run: SampledRun) => boolean;
}

/** A root run that ended. */
export interface SampledRun {
  readonly job: string;
  readonly agent: string;
  readonly tenant: string;
  readonly outcome: string;
  readonly failureKind?: string | undefined;
  readonly seconds: number;
}

const byAgent = ({ agent, job }: SampledRun): Labels => ({ job, gen_ai_agent_name: agent });
const counts = ({ failureKind }: SampledRun): boolean =>
  failureKind !== undefined && DEFAULT_KINDS.some((kind) => kind === failureKind);
/** Others are neither good nor bad. */
const isGoodOrBad = (run: SampledRun): boolean => run.outcome === "complete" || counts(run);
/** The usual one of its kind. */
const ORIGINS: Readonly<Record<string, string>> = {
  tool_error_terminal: "tool",
  model_dispatch: "model",
};

const OBJECTIVES: readonly Sampled[] = [
  {
    labels: { objective: "good-runs" },
    budget: 0.01,
    by: (run) => (isGoodOrBad(run) ? byAgent(run) : undefined),
    bad: counts,
  },
  {
    labels: { objective: "working-time", within: "60s" },
    budget: 0.05,
    by: (run) => (/complete|interrupted/.test(run.outcome) ? byAgent(run) : undefined),
    bad: ({ seconds }) => seconds > 60,
  },
  {
    labels: { objective: "acme" },
    budget: 0.005,
    by: (run) =>
      run.tenant === "acme" && isGoodOrBad(run)
        ? { job: run.job, entelix_tenant_id: "acme" }
        : undefined,
    bad: counts,
  },
];

/** Runs of the weeks before the sample, of which as many were bad as half of the budget allows. */
const RUNS_BEFORE = 20_000;

/** Each sample stands for a minute of the rules. */
const SAMPLES_AN_HOUR = 120;

interface Sample {
  readonly runs: number;
  readonly bad: number;
}

const NOTHING: Sample = { runs: 0, bad: 0 };

/** What has a budget of its own. */
class Budget {
  readonly labels: Labels;
  readonly #budget: number;
  /** All runs so far, at each sample. */
  readonly #sums: Sample[] = [];
  readonly #badNow = new Map<string, number>();
  #runsNow = 0;

  constructor(labels: Labels, budget: number) {
    this.labels = labels;
    this.#budget = budget;
  }

  ended({ failureKind: key = "" }: SampledRun, bad: boolean): void {
    this.#runsNow++;
    this.#badNow.set(key, (this.#badNow.get(key) ?? 0) + (bad ? 1 : 0));
  }

  sample(recorder: Recorder): void {
    const { labels } = this;
    let bad = 0;
    for (const [key, count] of this.#badNow) {
      const why: Labels =
        key === ""
          ? {}
          : { entelix_failure_kind: key, entelix_failure_origin: ORIGINS[key] ?? "run" };
      recorder.setTo(RECORDS.badRuns("1m"), { ...labels, ...why }, count);
      this.#badNow.set(key, 0);
      bad += count;
    }
    recorder.setTo(RECORDS.runs("1m"), labels, this.#runsNow);
    const before = this.#sums.at(-1) ?? NOTHING;
    this.#sums.push({ runs: before.runs + this.#runsNow, bad: before.bad + bad });
    this.#runsNow = 0;
    for (const [window, hours] of [
      ["1h", 1],
      ["6h", 6],
      ["3d", 72],
    ] as const) {
      recorder.setTo(
        RECORDS.burnRate(window),
        labels,
        this.#used(this.#last(hours * SAMPLES_AN_HOUR)),
      );
    }
    const { bad: badBefore, runs } = this.#last(Number.POSITIVE_INFINITY);
    const month = {
      runs: runs + RUNS_BEFORE,
      bad: badBefore + (RUNS_BEFORE * this.#budget) / 2,
    };
    recorder.setTo(RECORDS.runs("30d"), labels, month.runs);
    recorder.setTo(RECORDS.badRuns("30d"), labels, month.bad);
    recorder.setTo(RECORDS.left, labels, 1 - this.#used(month));
  }

  #last(samples: number): Sample {
    const now = this.#sums.at(-1) ?? NOTHING;
    const before = this.#sums.at(-1 - samples) ?? NOTHING;
    return { runs: now.runs - before.runs, bad: now.bad - before.bad };
  }

  #used({ bad, runs }: Sample): number {
    return runs === 0 ? 0 : bad / runs / this.#budget;
  }
}

/** What the rules of the objectives would record of the sampled runs. */
export class ObjectiveSample {
  readonly #recorder: Recorder;
  readonly #budgets = new Map<string, Budget>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
    for (const { budget, labels } of OBJECTIVES) {
      recorder.setTo(RECORDS.budget, { objective: labels.objective ?? "" }, budget);
    }
  }

  ended(run: SampledRun): void {
    for (const { bad, budget, by, labels } of OBJECTIVES) {
      const scope = by(run);
      if (scope === undefined) continue;
      const all = { ...labels, ...scope };
      const key = JSON.stringify(all);
      const known = this.#budgets.get(key) ?? new Budget(all, budget);
      this.#budgets.set(key, known);
      known.ended(run, bad(run));
    }
  }

  /** To be called before each sample. */
  sample(): void {
    for (const budget of this.#budgets.values()) budget.sample(this.#recorder);
  }
}
