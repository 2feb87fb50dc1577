/** The value of a variable in the format that the text asks for; undefined where there is no such variable. */
export type Lookup = (name: string, format: string | undefined) => string | undefined;

/**
 * Puts values in the place of Grafana's variables: `$name`, `${name}` and `${name:format}`.
 *
 * @throws RangeError for a variable that `lookup` does not know, which in Grafana would stay in the text as it is
 */
export function fillVariables(text: string, lookup: Lookup): string {
  return text.replace(
    /\$(\w+)|\$\{([\w.]+)(?::(\w+))?\}/g,
    (written: string, bare?: string, braced?: string, format?: string) => {
      const value = lookup(bare ?? braced ?? "", format);
      if (value === undefined) throw new RangeError(`${written}: no such variable, in ${text}`);
      return value;
    },
  );
}
