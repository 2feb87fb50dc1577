/** One `name{…}` of a query, or a bare name. */
export interface Selector {
  readonly metric: string;
  /** The matchers in its braces: label, operator, value. */
  readonly matchers: readonly Matcher[];
}

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface QueryNames {
  readonly selectors: readonly Selector[];
  /** Labels that aggregations and matchings name: `by (job)`, `on (job)`. */
  readonly grouping: readonly string[];
}

const TOKEN = /"(?:\\.|[^"\\])*"|\[[^\]]*\]|[A-Za-z_:][\w:]*|\d[\w.]*|[=!]~|[!=<>]=|#[^\n]*|[^\s]/g;

/** What stands before `(labels)`. */
const GROUPING = new Set(["by", "on", "without", "ignoring", "group_left", "group_right"]);
/** Names that are no metric's; functions are told by their parenthesis, these aggregations may have `by` before it. */
const WORDS = new Set(["and", "or", "unless", "offset", "sum", "max", "min", "count", "group"]);

/** The metrics and labels that a query of the shipped rules names. Made for those, not for all of PromQL. */
export function queryNames(query: string): QueryNames {
  const tokens: readonly string[] = query.match(TOKEN) ?? [];
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  let at = 0;
  const until = (end: string): string[] => {
    const from = at + 1;
    at = tokens.indexOf(end, from);
    if (at < 0) throw new Error(`${query}: expected ${end}`);
    return tokens.slice(from, at);
  };
  for (; at < tokens.length; at++) {
    const token = tokens[at] ?? "";
    const next = tokens[at + 1];
    if (GROUPING.has(token) && next === "(") {
      at++;
      grouping.push(...until(")").filter((name) => name !== ","));
    } else if (token === "{") {
      selectors.push({ metric: "", matchers: matchersOf(until("}")) });
    } else if (/^[A-Za-z_:]/.test(token) && !WORDS.has(token) && next !== "(") {
      if (next === "{") {
        at++;
        selectors.push({ metric: token, matchers: matchersOf(until("}")) });
      } else {
        selectors.push({ metric: token, matchers: [] });
      }
    }
  }
  return { selectors, grouping };
}

function matchersOf(tokens: readonly string[]): Matcher[] {
  const matchers: Matcher[] = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [label = "", operator = "", value = ""] = tokens.slice(at, at + 3);
    matchers.push({ label, operator, value: value.slice(1, -1) });
  }
  return matchers;
}
