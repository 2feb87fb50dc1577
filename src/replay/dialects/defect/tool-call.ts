import { type Instant, millisecondsBetween, type SignalAttributes } from "../../../events/door.ts";
import type { PermissionOption, ToolCallFields } from "./events.ts";

/** What is kept of an open tool call: how it stands with its permission, and what only ends say. */
export class ToolCall {
  /** Empty while no start of it was seen. */
  name: string;
  /** Its start was told: there is a span that others can be under. */
  hasSpan = false;
  /** What the policy said. */
  decision: "allow" | "deny" | "ask" | undefined = undefined;
  /** Whether it may run, once that is settled. */
  allowed: boolean | undefined = undefined;
  /** When it was refused; what says so to the outside comes after that. */
  refusedAt: Instant | undefined = undefined;
  /** The refusal was told: of the call nothing but its end is still to come. */
  denied = false;
  #askedAt: Instant | undefined = undefined;
  #options: readonly PermissionOption[] | undefined = undefined;
  #by: "user" | "policy" | undefined = undefined;
  #option: string | undefined = undefined;
  #answered = false;
  #waitMs: number | undefined = undefined;
  #status: string | undefined = undefined;
  #progress = 0;

  constructor(name: string) {
    this.name = name;
  }

  get waitMs(): number | undefined {
    return this.#waitMs;
  }

  /** Whether a permission request was answered, or cancelled. */
  get answered(): boolean {
    return this.#answered;
  }

  /** An update of the call came. */
  update({ status }: ToolCallFields): void {
    if (typeof status === "string") this.#status = status;
  }

  progress(fields: ToolCallFields): void {
    this.update(fields);
    this.#progress++;
  }

  allow(): void {
    this.decision = "allow";
    this.allowed = true;
  }

  deny(at: Instant): void {
    this.decision = "deny";
    this.#refuse("policy", at);
  }

  /** Asking without options is denying. */
  ask(options: readonly PermissionOption[], at: Instant): void {
    this.decision = "ask";
    this.#askedAt = at;
    this.#options = options;
    if (options.length === 0) this.#refuse("policy", at);
  }

  /** @returns whether it was allowed; `undefined` where the request was not seen. */
  answer(optionId: string, at: Instant): boolean | undefined {
    this.#settle(at);
    this.#by = "user";
    if (this.#options === undefined) return undefined;
    const option = this.#options.find(({ id }) => id === optionId);
    this.#option = option?.kind;
    // Upstream takes an answer that was not offered for a refusal.
    this.allowed = option?.allows ?? false;
    if (!this.allowed) this.#refuse("user", at);
    return this.allowed;
  }

  /** Nobody answered: the turn is being cancelled. */
  cancelRequest(at: Instant): void {
    this.#settle(at);
  }

  /** Upstream starts a call once more only to say that it was denied. */
  refuseUnsaid(at: Instant): void {
    if (this.allowed === undefined) this.#refuse(this.#by, at);
  }

  #settle(at: Instant): void {
    this.#answered = true;
    if (this.#askedAt === undefined) return;
    this.#waitMs = Math.round(Math.max(0, millisecondsBetween(this.#askedAt, at)));
  }

  #refuse(by: "user" | "policy" | undefined, at: Instant): void {
    this.allowed = false;
    this.refusedAt = at;
    this.#by = by;
  }

  /** What its end says of it. */
  attributes(): SignalAttributes {
    return {
      "entelix.acp.tool_status": this.#status,
      "entelix.progress.count": this.#progress || undefined,
      "entelix.policy.decision": this.decision,
      "entelix.approval.by": this.#by,
      "entelix.approval.option": this.#option,
      // Of an approved call the lifecycle has it already.
      "entelix.approval.wait_ms": this.allowed === false ? this.#waitMs : undefined,
    };
  }
}
