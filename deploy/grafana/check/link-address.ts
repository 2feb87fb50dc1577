import { fillVariables } from "./fill-variables.ts";
import type { Choices } from "./query-text.ts";

/** What a link of a panel gets its values from. */
export interface LinkPlace {
  /** The labels of the clicked series, or the columns of the clicked row. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Chosen on the dashboard; constants too. */
  readonly choices: Choices;
  /** The dashboard's time range, in seconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/**
 * The address that a click on a panel's link leads to, as Grafana makes it.
 *
 * @throws RangeError for a variable, label or column that is not there, or a format this knows nothing of
 */
export function linkAddress(url: string, place: LinkPlace): string {
  return fillVariables(url, (name, format) => {
    const [, label] = /^__(?:field\.labels|data\.fields)\.(\w+)$/.exec(name) ?? [];
    if (label !== undefined) return formatted(name, place.labels[label], format);
    switch (name) {
      case "__value.raw":
        return String(place.value);
      case "__from":
        return String(place.from * 1000);
      case "__to":
        return String(place.to * 1000);
      case "__url_time_range":
        return `from=${place.from * 1000}&to=${place.to * 1000}`;
      default:
        return chosen(name, place.choices, format);
    }
  });
}

function chosen(name: string, choices: Choices, format: string | undefined): string | undefined {
  const choice = choices.get(name);
  if (choice === undefined) return undefined;
  const values =
    choice.kind === "all" ? ["$__all"] : choice.kind === "one" ? [choice.value] : choice.values;
  return format === "queryparam"
    ? values.map((value) => `var-${name}=${encodeURIComponent(value)}`).join("&")
    : formatted(name, values.join(","), format);
}

function formatted(
  name: string,
  value: string | undefined,
  format: string | undefined,
): string | undefined {
  switch (format) {
    case "raw":
      return value;
    case "percentencode":
      return value === undefined ? undefined : encodeURIComponent(value);
    default:
      // Without a format the encoding would depend on Grafana's version.
      throw new RangeError(`${name}: expected the format raw, percentencode or queryparam`);
  }
}
