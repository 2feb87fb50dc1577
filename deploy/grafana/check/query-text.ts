import { durationText } from "./duration-text.ts";
import { fillVariables } from "./fill-variables.ts";

/** What is chosen for a dashboard variable. */
export type Choice =
  | { readonly kind: "all"; readonly pattern: string }
  | { readonly kind: "one"; readonly value: string }
  | { readonly kind: "several"; readonly values: readonly string[] };

export type Choices = ReadonlyMap<string, Choice>;

/** The time that a query is for. All in seconds. */
export interface QueryTime {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** How often Prometheus scrapes. Default 15. */
  readonly scrape?: number;
}

/**
 * A panel's query as Grafana sends it to Prometheus: variables filled in, and escaped for where they stand. A variable
 * with several values is a regular expression; one with a single value is the text of a matcher.
 *
 * @throws RangeError for a variable that is neither chosen nor one of Grafana's own
 */
export function queryText(expr: string, choices: Choices, time: QueryTime): string {
  return fillVariables(expr, (name) => {
    const choice = choices.get(name);
    return choice === undefined ? ownVariable(name, time) : choiceText(choice);
  });
}

function choiceText(choice: Choice): string {
  switch (choice.kind) {
    case "all":
      return choice.pattern;
    case "one":
      return quoted(choice.value);
    case "several": {
      const values = choice.values.map((value) => quoted(literalPattern(value)));
      return values.length === 1 ? (values[0] ?? "") : `(${values.join("|")})`;
    }
    default:
      return choice satisfies never;
  }
}

function ownVariable(name: string, { from, scrape = 15, step, to }: QueryTime): string | undefined {
  switch (name) {
    case "__interval":
      return durationText(step);
    case "__interval_ms":
      return String(step * 1000);
    case "__rate_interval":
      return durationText(Math.max(step + scrape, 4 * scrape));
    case "__range":
      return `${Math.round(to - from)}s`;
    case "__range_s":
      return String(Math.round(to - from));
    case "__range_ms":
      return String(Math.round((to - from) * 1000));
    default:
      return undefined;
  }
}

/** A regular expression that matches this text alone. */
function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** For the inside of a string in PromQL. */
function quoted(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}
