import type { AttributeName, DecisionDetails, OwnAttributes } from "../../events/door.ts";
import type { Run } from "../lifecycle/door.ts";
import type { ContentPolicy } from "./content.ts";
import type { SpanHandle } from "./span-handle.ts";

/** The attributes of a decision about a tool call: `entelix.approval.*`. */
export class DecisionAttributes {
  readonly #content: ContentPolicy;
  readonly #showsPerson: boolean;

  /** @param showsPerson whether spans contain the person who decided. */
  constructor(content: ContentPolicy, showsPerson: boolean) {
    this.#content = content;
    this.#showsPerson = showsPerson;
  }

  /** All attributes, with content only if that is captured. */
  of(
    decision: DecisionDetails,
    otherwise: "approved" | "denied",
    run: Run<SpanHandle>,
    tool: string,
  ): OwnAttributes {
    const attributes = this.withoutContent(decision, otherwise);
    if (!this.#content.captures) return attributes;
    const { proposed_input, reason } = decision;
    const { tenantId, runId } = run;
    const show = (attribute: AttributeName, value: unknown) =>
      this.#content.value(value, { attribute, tenantId, runId, tool });
    const why: AttributeName = "entelix.approval.reason";
    const proposed: AttributeName = "entelix.approval.proposed_input";
    attributes[why] = show(why, reason);
    attributes[proposed] = show(proposed, proposed_input);
    return attributes;
  }

  /** @param otherwise the outcome if the decision has none. */
  withoutContent(decision: DecisionDetails, otherwise: "approved" | "denied"): OwnAttributes {
    const { by, outcome, person, wait_ms } = decision;
    const attributes: OwnAttributes = { "entelix.approval.outcome": outcome ?? otherwise };
    if (by !== undefined) attributes["entelix.approval.by"] = by;
    if (wait_ms !== undefined) attributes["entelix.approval.wait_ms"] = Math.round(wait_ms);
    if (this.#showsPerson) attributes["entelix.approval.person"] = person;
    return attributes;
  }
}
