/** Names of the recording rules, each by its window where it has one. */
export const RECORDS = {
  /** Share of the runs that may be bad. */
  budget: "entelix:objective:error_budget",
  minimumRuns: "entelix:objective:minimum_runs",
  runs: (window: string) => `entelix:objective_runs:increase${window}`,
  badRuns: (window: string) => `entelix:objective_bad_runs:increase${window}`,
  burnRate: (window: string) => `entelix:objective:burn_rate${window}`,
  /** Share of the budget of 30 days that is left; below 0 where more was used. */
  left: "entelix:objective:budget_left",
} as const;
