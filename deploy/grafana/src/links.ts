import * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import { DASHBOARD } from "./names.ts";

/** Where a link finds the value that was clicked: in a series' labels, or in the columns of a table's row. */
export type Clicked = "series" | "row";

/** What a Jaeger search asks for beside service and time. Values may hold `labelOf` or a dashboard variable. */
export interface JaegerSearch {
  /** Span attributes that all have to match, by their names as on the span (with dots). */
  readonly tags: Readonly<Record<string, string>>;
  /** The span name to look for. Default: any. */
  readonly operation?: string;
  /** Shortest duration, as Jaeger reads it (`1.5s`). Default: any. */
  readonly minDuration?: string;
}

/** A label of the clicked series or row, ready for an address. */
export function labelOf(clicked: Clicked, label: string): string {
  return clicked === "series"
    ? `\${__field.labels.${label}:percentencode}`
    : `\${__data.fields.${label}:percentencode}`;
}

/**
 * The traces behind what was clicked, in Jaeger's UI, for the dashboard's time range. The series or row needs `job`.
 */
export function jaegerLink(
  title: string,
  clicked: Clicked,
  { minDuration, operation, tags }: JaegerSearch,
): dashboard.DashboardLinkBuilder {
  const parts = [
    `service=${labelOf(clicked, "job")}`,
    ...(operation === undefined ? [] : [`operation=${encoded(operation)}`]),
    ...(Object.keys(tags).length === 0 ? [] : [`tags=${encoded(JSON.stringify(tags))}`]),
    ...(minDuration === undefined ? [] : [`minDuration=${encoded(minDuration)}`]),
    // Jaeger counts in microseconds, Grafana in milliseconds.
    "lookback=custom",
    `start=\${__from}000`,
    `end=\${__to}000`,
    "limit=100",
  ];
  return link(title, `\${jaeger_url:raw}/search?${parts.join("&")}`).targetBlank(true);
}

/** Another dashboard for the same time, service and tenant, with `variables` set by what was clicked. */
export function dashboardLink(
  title: string,
  to: keyof typeof DASHBOARD,
  variables: Readonly<Record<string, string>> = {},
): dashboard.DashboardLinkBuilder {
  const parts = [
    ...Object.entries(variables).map(([name, value]) => `var-${name}=${value}`),
    `\${service:queryparam}`,
    ...(Object.hasOwn(variables, "tenant") ? [] : [`\${tenant:queryparam}`]),
    `\${__url_time_range}`,
  ];
  return link(title, `/d/${DASHBOARD[to]}?${parts.join("&")}`);
}

function link(title: string, url: string): dashboard.DashboardLinkBuilder {
  return new dashboard.DashboardLinkBuilder(title).url(url);
}

/** Encoded for an address, but for the variables in it: Grafana fills and encodes those itself. */
function encoded(text: string): string {
  return text
    .split(/(\$\{[^}]*\})/)
    .map((part) => (part.startsWith("${") ? part : encodeURIComponent(part)))
    .join("");
}
