import { divideDuration } from "./duration.ts";

/** What of a query is no duration, whatever it looks like: texts, comments and names. */
const TOKEN =
  /(?<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?<comment>#[^\n]*)|(?<name>[A-Za-z_][\w:]*)|(?<number>\d[\w.]*)|./gsu;

/**
 * A PromQL query with its durations divided: those of ranges (`[5m]`), of subqueries (`[1h:5m]`) and
 * of offsets. Numbers stay: a threshold in seconds is a value.
 *
 * @throws RangeError when a duration does not divide, or stands where none was expected.
 */
export function scaleQuery(query: string, factor: number): string {
  let brackets = 0;
  let offset = false;
  let scaled = "";
  for (const token of query.matchAll(TOKEN)) {
    const [raw] = token;
    const { name, number } = token.groups ?? {};
    if (raw === "[") brackets++;
    if (raw === "]") brackets--;
    if (number !== undefined && /[a-z]$/.test(number) && !/^0x|e\d/i.test(number)) {
      if (brackets === 0 && !offset) throw new RangeError(`${number} is in no range and no offset`);
      scaled += divideDuration(number, factor);
    } else {
      scaled += raw;
    }
    if (name !== undefined) offset = name.toLowerCase() === "offset";
    else if (!/^[\s-]$/.test(raw)) offset = false;
  }
  return scaled;
}
