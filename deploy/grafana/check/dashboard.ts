import { Shape } from "./json-shape.ts";

/** What is checked and drawn of a dashboard's JSON. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly Variable[];
  /** Rows too, in the order of the file. */
  readonly panels: readonly Panel[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  /** Of a query variable the query; of others what is chosen unless somebody chooses. */
  readonly query: string;
  /** The pattern that stands for all values, where all can be chosen. */
  readonly allValue: string | undefined;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly decimals: number | undefined;
  readonly datasource: string;
  readonly grid: Grid;
  /** The least step, as written. */
  readonly interval: string;
  readonly targets: readonly Target[];
  readonly links: readonly Link[];
  readonly stacked: boolean;
  readonly bars: boolean;
  readonly max: number | undefined;
  readonly steps: readonly { readonly from: number | undefined; readonly color: string }[];
  /** Colours by a pattern of the series' name. */
  readonly colors: readonly { readonly pattern: RegExp; readonly color: string }[];
  /** Headers of a table's columns by their names, in their order. */
  readonly columns: ReadonlyMap<string, string>;
  /** Units by header, where they differ from the panel's. */
  readonly columnUnits: ReadonlyMap<string, string>;
  /** The header that the rows are sorted by, the highest first. */
  readonly sortBy: string | undefined;
}

export interface Grid {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legend: string;
  readonly instant: boolean;
  /** Whether Grafana shows the traces that stand for values. */
  readonly exemplars: boolean;
  readonly format: string;
  readonly datasource: string;
}

export interface Link {
  readonly title: string;
  readonly url: string;
}

/** @throws SyntaxError or TypeError that names what is wrong in the text */
export function readDashboard(text: string): Dashboard {
  const value: unknown = JSON.parse(text);
  const root = new Shape(value, "dashboard");
  return {
    uid: root.at("uid").text,
    title: root.at("title").text,
    variables: root.at("templating").at("list").list.map(readVariable),
    panels: root.at("panels").list.map(readPanel),
  };
}

function readVariable(shape: Shape): Variable {
  const type = shape.at("type").text;
  const query = shape.at("query");
  return {
    name: shape.at("name").text,
    type,
    query: type === "query" ? query.at("query").text : (chosen(shape) ?? query.text),
    allValue: shape.at("includeAll").flag ? shape.at("allValue").text : undefined,
  };
}

function chosen(variable: Shape): string | undefined {
  return orEmpty(variable, "current").at("value").optionalText;
}

function readPanel(shape: Shape): Panel {
  const type = shape.at("type").text;
  const grid = shape.at("gridPos");
  const config = orEmpty(shape, "fieldConfig");
  const defaults = orEmpty(config, "defaults");
  const custom = orEmpty(defaults, "custom");
  const options = orEmpty(shape, "options");
  const overrides = config.at("overrides").list;
  return {
    id: shape.at("id").number,
    type,
    title: shape.at("title").text,
    description: shape.at("description").optionalText ?? "",
    unit: defaults.at("unit").optionalText ?? "",
    decimals: defaults.at("decimals").optionalNumber,
    datasource: uidOf(shape),
    grid: {
      x: grid.at("x").number,
      y: grid.at("y").number,
      w: grid.at("w").number,
      h: grid.at("h").number,
    },
    interval: shape.at("interval").optionalText ?? "",
    targets: shape.at("targets").list.map(readTarget),
    links: defaults.at("links").list.map((link) => ({
      title: link.at("title").text,
      url: link.at("url").text,
    })),
    stacked: orEmpty(custom, "stacking").at("mode").optionalText === "normal",
    bars: custom.at("drawStyle").optionalText === "bars",
    max: defaults.at("max").optionalNumber,
    steps: orEmpty(defaults, "thresholds")
      .at("steps")
      .list.map((step) => ({
        from: step.at("value").optionalNumber,
        color: step.at("color").text,
      })),
    colors: overrides.flatMap((each) => override(each, "byRegexp", "color", readColor)),
    columns: readColumns(shape.at("transformations").list),
    columnUnits: new Map(
      overrides.flatMap((each) => override(each, "byName", "unit", readColumnUnit)),
    ),
    sortBy: options.at("sortBy").list[0]?.at("displayName").text,
  };
}

function readTarget(shape: Shape): Target {
  return {
    refId: shape.at("refId").text,
    expr: shape.at("expr").text,
    legend: shape.at("legendFormat").optionalText ?? "",
    instant: shape.at("instant").flag,
    exemplars: shape.at("exemplar").flag,
    format: shape.at("format").text,
    datasource: uidOf(shape),
  };
}

/** What an override with this matcher says of one property. */
function override<T>(
  shape: Shape,
  matcher: string,
  property: string,
  read: (matched: string, value: Shape) => T,
): T[] {
  if (shape.at("matcher").at("id").text !== matcher) return [];
  const matched = shape.at("matcher").at("options").text;
  return shape
    .at("properties")
    .list.filter((each) => each.at("id").text === property)
    .map((each) => read(matched, each.at("value")));
}

function readColor(matched: string, value: Shape) {
  return { pattern: new RegExp(matched.slice(1, -1)), color: value.at("fixedColor").text };
}

function readColumnUnit(header: string, value: Shape): [string, string] {
  return [header, value.text];
}

function readColumns(transformations: readonly Shape[]): ReadonlyMap<string, string> {
  const organize = transformations.find((each) => each.at("id").text === "organize");
  if (organize === undefined) return new Map();
  const headers = organize.at("options").at("renameByName").entries;
  const order = new Map(
    organize
      .at("options")
      .at("indexByName")
      .entries.map(([name, at]) => [name, at.number]),
  );
  return new Map(
    headers
      .map(([name, header]): [string, string] => [name, header.text])
      .toSorted(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0)),
  );
}

function uidOf(shape: Shape): string {
  return orEmpty(shape, "datasource").at("uid").optionalText ?? "";
}

/** A field that may be left out, as an object. */
function orEmpty(shape: Shape, name: string): Shape {
  const found = shape.at(name);
  return found.absent ? new Shape({}, name) : found;
}
