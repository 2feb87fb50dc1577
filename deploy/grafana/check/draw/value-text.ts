/**
 * A value in one of the units that the dashboards use. Without `decimals` it has as many as say something.
 */
export function valueText(value: number, unit: string, decimals?: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const write = (scaled: number, most: number, suffix: string): string =>
    `${decimals === undefined ? String(Number(scaled.toFixed(most))) : scaled.toFixed(decimals)}${suffix}`;
  switch (unit) {
    case "percentunit":
      return write(value * 100, 1, "%");
    case "currencyUSD":
      return `$${write(value, size < 1 ? 4 : 2, "")}`;
    case "s":
      if (size >= 60) return write(value / 60, 1, " min");
      return size < 1 && size > 0 ? write(value * 1000, 0, " ms") : write(value, 1, " s");
    case "bytes":
      return write(value / 2 ** 20, 0, " MiB");
    default:
      if (size >= 1e6) return write(value / 1e6, 2, " Mil");
      return size >= 1e3 ? write(value / 1e3, 1, " K") : write(value, 2, "");
  }
}
