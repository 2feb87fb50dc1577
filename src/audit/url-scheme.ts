/**
 * `mysql://` of a place that is a URL and no directory: as a directory it would become folders with
 * its password in their names.
 */
export function urlScheme(place: string): string | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.exec(place)?.[0];
}
