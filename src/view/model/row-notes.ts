import { count, counted } from "../../events/format/door.ts";
import { numberIn } from "./attributes.ts";
import { decisionWords } from "./decisions.ts";
import { dollars } from "./formats.ts";
import type { OutlineItem } from "./outline.ts";
import type { RunModel } from "./run-model.ts";
import { unusualEnd } from "./span-words.ts";
import { addUsage, type Usage } from "./usage.ts";

/** What a row of the timeline says beside its name. */
export interface RowNotes {
  /** `2 retries`, `try 2 of 3` */
  readonly tries?: string;
  /** `edited by ann@acme.test after 1.2 s` */
  readonly decision?: string;
  /** `denied`, `cancelled`, `interrupted`, unless the decision says it. */
  readonly ended?: string;
  readonly segment?: string;
}

export function rowNotes(item: OutlineItem, { decisions }: Pick<RunModel, "decisions">): RowNotes {
  const { node } = item;
  const decision = decisions.get(node);
  const ended = unusualEnd(node.span);
  const segment = numberIn(node.span.attributes, "entelix.run.segment");
  const tries = triesText(item);
  return {
    ...(tries === undefined ? {} : { tries }),
    ...(decision === undefined ? {} : { decision: decisionWords(decision) }),
    ...(ended === undefined || ended === decision?.decision ? {} : { ended }),
    ...(segment === undefined ? {} : { segment: `segment ${count(segment)}` }),
  };
}

function triesText({ calls, node, number, parent }: OutlineItem): string | undefined {
  if (calls !== undefined) return counted(calls.length - 1, "retry", "retries");
  if (number !== undefined) return `try ${count(number)} of ${count(parent?.calls?.length ?? 0)}`;
  const retries = numberIn(node.span.attributes, "entelix.retry.count") ?? 0;
  return retries === 0 ? undefined : counted(retries, "retry", "retries");
}

/** Tokens and cost of a row with all under it. */
export function rowUsage({ calls, node }: OutlineItem, { usage }: Pick<RunModel, "usage">): Usage {
  return addUsage((calls ?? [node]).map((one) => usage.get(one) ?? {}));
}

/** Tokens and cost in words. */
export interface UsageWords {
  /** The cost, else the tokens. */
  readonly short: string;
  /** The same for screen readers. */
  readonly spoken: string;
  /** All that is known. */
  readonly title: string;
}

/** `undefined` if neither cost nor tokens are known. */
export function usageWords({ cost, input, output }: Usage): UsageWords | undefined {
  const tokens = (input ?? 0) + (output ?? 0);
  const hasTokens = input !== undefined || output !== undefined;
  const parts = hasTokens ? [`${count(input ?? 0)} tokens in, ${count(output ?? 0)} out`] : [];
  if (cost !== undefined) {
    const title = [...parts, `$${cost}`].join(", ");
    return { short: dollars(cost), spoken: `cost ${dollars(cost)}`, title };
  }
  const [title] = parts;
  if (title === undefined) return undefined;
  return { short: `${count(tokens)} tok`, spoken: counted(tokens, "token"), title };
}
