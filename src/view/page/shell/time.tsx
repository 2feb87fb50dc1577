import { localTime, type Precision, utcTime } from "../../model/formats.ts";

/** A time in the reader's time zone, with UTC in the title. `ms`: Unix time in ms. */
export function Time({ ms, precision }: { readonly ms: number; readonly precision?: Precision }) {
  const utc = utcTime(ms);
  return (
    <time dateTime={utc} title={`${utc} (UTC)`}>
      {localTime(ms, precision)}
    </time>
  );
}
