import { cut, safe } from "../../../events/format/door.ts";
import type { RunOutcome } from "../../format.ts";
import { lookOf } from "../../model/outcome.ts";

/** An outcome as a sign and a word: colour only repeats what they say. */
export function Badge({ outcome }: { readonly outcome: RunOutcome }) {
  const { meaning, sign, tone } = lookOf(outcome);
  return (
    <span class={`badge ${tone}`} title={meaning}>
      <i aria-hidden="true">{sign}</i>
      <bdi class="ellipsis">{safe(cut(outcome, 40).text)}</bdi>
    </span>
  );
}
