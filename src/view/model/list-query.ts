/** Filters of the list, by their names in the address of the page. */
export const FACETS = [
  "outcome",
  "kind",
  "agent",
  "tenant",
  "origin",
  "thread",
  "user",
  "session",
  "tag",
  "model",
  "tool",
] as const;

export type Facet = (typeof FACETS)[number];

/** Columns that the list can be sorted by. */
export const SORT_COLUMNS = [
  "time",
  "agent",
  "tenant",
  "outcome",
  "kind",
  "origin",
  "working",
  "waiting",
  "tokens",
  "input",
  "output",
  "cost",
] as const;

export type SortColumn = (typeof SORT_COLUMNS)[number];

/** Filters and order of the list, as in the address of the page. */
export interface ListQuery {
  /** Chosen values; empty: all. `""`: runs without a value. */
  readonly chosen: Readonly<Record<Facet, ReadonlySet<string>>>;
  /** Runs that started at this Unix time in ms, or later. */
  readonly fromMs: number | undefined;
  /** Runs that started before this Unix time in ms. */
  readonly toMs: number | undefined;
  /** Only runs that wait for a person now. */
  readonly waiting: boolean;
  /** Show runs that another run of the list dispatched, too. Default: top-level runs only. */
  readonly subRuns: boolean;
  /** Fold the runs of a conversation into one row. */
  readonly grouped: boolean;
  /** Words that must all occur. */
  readonly search: string;
  /** Default: by time, the newest first. */
  readonly sort: SortColumn;
  readonly descending: boolean;
}

const DEFAULT_SORT = "-time";

/** A value for each filter. */
export function byFacet<T>(read: (facet: Facet) => T): Readonly<Record<Facet, T>> {
  return {
    outcome: read("outcome"),
    kind: read("kind"),
    agent: read("agent"),
    tenant: read("tenant"),
    origin: read("origin"),
    thread: read("thread"),
    user: read("user"),
    session: read("session"),
    tag: read("tag"),
    model: read("model"),
    tool: read("tool"),
  };
}

/** Reads the query of an address. Invalid parts get their defaults. */
export function listQuery(query: URLSearchParams): ListQuery {
  const sort = query.get("sort") ?? DEFAULT_SORT;
  const column = SORT_COLUMNS.find((name) => name === sort.replace(/^-/, ""));
  return {
    chosen: byFacet((facet) => new Set(query.getAll(facet))),
    fromMs: timeOf(query.get("from")),
    toMs: timeOf(query.get("to")),
    waiting: query.get("waiting") === "1",
    subRuns: query.get("sub") === "1",
    grouped: query.get("group") === "conversation",
    search: query.get("q") ?? "",
    sort: column ?? "time",
    descending: column === undefined || sort.startsWith("-"),
  };
}

/** The query of an address. Defaults are left out. */
export function addressQuery(list: ListQuery): URLSearchParams {
  const query = new URLSearchParams();
  if (list.search !== "") query.set("q", list.search);
  for (const facet of FACETS) for (const value of list.chosen[facet]) query.append(facet, value);
  if (list.fromMs !== undefined) query.set("from", new Date(list.fromMs).toISOString());
  if (list.toMs !== undefined) query.set("to", new Date(list.toMs).toISOString());
  if (list.waiting) query.set("waiting", "1");
  if (list.subRuns) query.set("sub", "1");
  if (list.grouped) query.set("group", "conversation");
  const sort = `${list.descending ? "-" : ""}${list.sort}`;
  if (sort !== DEFAULT_SORT) query.set("sort", sort);
  return query;
}

/** Whether it hides any top-level run. */
export function isFiltered({ chosen, fromMs, search, toMs, waiting }: ListQuery): boolean {
  const isChosen = waiting || FACETS.some((facet) => chosen[facet].size > 0);
  return isChosen || fromMs !== undefined || toMs !== undefined || search.trim() !== "";
}

/** The query without its filters, in the same order. */
export function withoutFilters(list: ListQuery): ListQuery {
  const { descending, grouped, sort, subRuns } = list;
  return { ...listQuery(new URLSearchParams()), descending, grouped, sort, subRuns };
}

/** Adds or removes a value of a filter. */
export function toggled(list: ListQuery, facet: Facet, value: string): ListQuery {
  const values = new Set(list.chosen[facet]);
  if (!values.delete(value)) values.add(value);
  return { ...list, chosen: { ...list.chosen, [facet]: values } };
}

/** Sorts by a column; if it is the present column, reverses the order. Text begins with A, numbers with the largest. */
export function sortedBy(list: ListQuery, column: SortColumn): ListQuery {
  const descending = column === list.sort ? !list.descending : !TEXTS.has(column);
  return { ...list, sort: column, descending };
}

const TEXTS: ReadonlySet<SortColumn> = new Set(["agent", "tenant", "outcome", "kind", "origin"]);

function timeOf(text: string | null): number | undefined {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
