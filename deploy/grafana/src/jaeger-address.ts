/**
 * The address of Jaeger's UI, as it goes into the dashboards' links.
 *
 * @throws TypeError for what is no address by http or https, or ends with a slash, a query or a fragment
 */
export function jaegerAddress(text: string): string {
  if (!/^https?:\/\/[^/?#\s]+(?:\/[^/?#\s]+)*$/.test(text)) {
    throw new TypeError(
      `--jaeger-url: expected an http(s) address without a slash at its end, got ${text}`,
    );
  }
  return text;
}
