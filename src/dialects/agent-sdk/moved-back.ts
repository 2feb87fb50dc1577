import { addMilliseconds, type Instant } from "../../events/instant.ts";
import type { Count } from "./values.ts";

/** A time as much earlier as something took; unmoved by what would be longer than there is time. */
export function movedBack(at: Instant, tookMs: Count): Instant {
  const from = addMilliseconds(at, -Number(tookMs));
  return from[0] >= 0 ? from : at;
}
