/** A selector in a query, with the names it uses. */
export interface Selector {
  /** The metric's name, or the pattern of `__name__=~`. */
  readonly metric: string;
  readonly isPattern: boolean;
  /** The labels of its matchers, and of an `unless on` before it. */
  readonly labels: readonly string[];
  /** The labels of each `by` around it, from the inside out. */
  readonly groups: readonly (readonly string[])[];
}

/**
 * The selectors of a PromQL query, with their labels and groupings. It reads what the dashboards are written in, which
 * is less than the language: an aggregation has its `by` in front, and only `unless` is matched by `on`.
 *
 * @throws SyntaxError for what it does not read, so that no name can hide there
 */
export function promqlSelectors(query: string): Selector[] {
  const tokens = tokenize(query);
  const selectors: Selector[] = [];
  // The grouping that each open parenthesis stands for; undefined for a plain one.
  const open: (readonly string[] | undefined)[] = [];
  let pending: readonly string[] | undefined;
  let matched: readonly string[] = [];
  let at = 0;

  const select = (metric: string | undefined): void => {
    const matchers = tokens[at] === "{" ? readMatchers() : [];
    const byName = matchers.find(({ label }) => label === "__name__");
    const name = metric ?? byName?.value;
    if (name === undefined) throw wrong(query, "a selector without a metric");
    selectors.push({
      metric: name,
      isPattern: metric === undefined && byName?.operator === "=~",
      labels: [...matched, ...matchers.map(({ label }) => label)].filter(isOwn),
      groups: open.filter((group) => group !== undefined).toReversed(),
    });
    matched = [];
  };

  const readMatchers = () => {
    const matchers: { label: string; operator: string; value: string }[] = [];
    at++;
    while (tokens[at] !== "}") {
      const [label = "", operator = "", value = ""] = tokens.slice(at, at + 3);
      if (!/^\w+$/.test(label) || !/^(?:=|!=|=~|!~)$/.test(operator) || !value.startsWith('"')) {
        throw wrong(query, `a matcher, not ${label}${operator}${value}`);
      }
      matchers.push({ label, operator, value: value.slice(1, -1) });
      at += tokens[at + 3] === "," ? 4 : 3;
    }
    at++;
    return matchers;
  };

  const readLabels = (): string[] => {
    const end = tokens.indexOf(")", at);
    if (tokens[at] !== "(" || end < 0) throw wrong(query, "labels in parentheses");
    const labels = tokens.slice(at + 1, end).filter((token) => token !== ",");
    at = end + 1;
    return labels;
  };

  while (at < tokens.length) {
    const token = tokens[at++] ?? "";
    if (token === "(") {
      open.push(pending);
      pending = undefined;
    } else if (token === ")") {
      open.pop();
    } else if (token === "{") {
      at--;
      select(undefined);
    } else if (token === "by") {
      pending = readLabels();
      if (tokens[at] !== "(") throw wrong(query, "by before the aggregated expression");
    } else if (token === "unless" && tokens[at] === "on") {
      at++;
      matched = readLabels();
    } else if (UNREAD.has(token)) {
      throw wrong(query, `no ${token}`);
    } else if (/^[a-zA-Z_:]/.test(token) && !KEYWORDS.has(token)) {
      if (AGGREGATIONS.has(token) && tokens[at] === "(") pending = [];
      else if (tokens[at] !== "(" && tokens[at] !== "by") select(token);
    }
  }
  if (open.length > 0) throw wrong(query, "as many ) as (");
  return selectors;
}

function isOwn(label: string): boolean {
  return label !== "__name__";
}

const AGGREGATIONS = new Set(["sum", "max", "min", "avg", "count", "topk", "bottomk"]);
const KEYWORDS = new Set(["and", "or", "unless", "offset", "bool"]);
const UNREAD = new Set(["on", "ignoring", "without", "group_left", "group_right", "@"]);

/** Windows in brackets have no names, so they are left out; so is what follows `offset`. */
function tokenize(query: string): string[] {
  const tokens: string[] = [];
  const pattern =
    /\s+|(\[[^\]]*\])|(offset\s+[$\w]+)|("(?:[^"\\]|\\.)*")|([a-zA-Z_:][\w:]*)|([\d.]+(?:e-?\d+)?)|(=~|!~|!=|==|>=|<=|[(){},=<>*/+@-])|(.)/gy;
  for (const [, , , text, word, , sign, strange] of query.matchAll(pattern)) {
    if (strange !== undefined) throw wrong(query, `no ${strange}`);
    const token = text ?? word ?? sign;
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}

function wrong(query: string, expected: string): SyntaxError {
  return new SyntaxError(`expected ${expected}, in ${query}`);
}
