import type { OnWait } from "../../audit/door.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";

/** Reports that the command waits for a pipe. */
export function sayWaiting({ err }: Pick<Io, "err">): OnWait {
  return (text) => err.line(safe(text));
}
