import { type Instant, millisecondsBetween, type SignalAttributes } from "../../../events/door.ts";
import type { PermissionOption, ToolCallFields } from "./events.ts";

/** State of an open tool call: its permission, and attributes for its end. */
export class ToolCall {
  /** Empty if no start was seen. */
  name: string;
  /** Whether its start was reported, so that a span exists. */
  hasSpan = false;
  /** Decision of the policy. */
  decision: "allow" | "deny" | "ask" | undefined = undefined;
  /** Whether the call may run. `undefined` until that is decided. */
  allowed: boolean | undefined = undefined;
  /** When the call was refused. Its span is reported as denied later. */
  refusedAt: Instant | undefined = undefined;
  /** Whether the refusal was reported. Only the end of the call can follow. */
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

  /** Whether a permission request was answered or cancelled. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Takes an update of the call. */
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

  /** A request without options denies the call. */
  ask(options: readonly PermissionOption[], at: Instant): void {
    this.decision = "ask";
    this.#askedAt = at;
    this.#options = options;
    if (options.length === 0) this.#refuse("policy", at);
  }

  /** @returns whether the call was allowed. `undefined` if the request was not seen. */
  answer(optionId: string, at: Instant): boolean | undefined {
    this.#settle(at);
    this.#by = "user";
    if (this.#options === undefined) return undefined;
    const option = this.#options.find(({ id }) => id === optionId);
    this.#option = option?.kind;
    // Upstream treats an answer that was not offered as a refusal.
    this.allowed = option?.allows ?? false;
    if (!this.allowed) this.#refuse("user", at);
    return this.allowed;
  }

  /** The request was cancelled because the turn is being cancelled. */
  cancelRequest(at: Instant): void {
    this.#settle(at);
  }

  /** Refuses a call that upstream starts a second time: that only happens after a denial. */
  refuseUndecided(at: Instant): void {
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

  /** Attributes for the end of the call. */
  attributes(): SignalAttributes {
    return {
      "entelix.acp.tool_status": this.#status,
      "entelix.progress.count": this.#progress || undefined,
      "entelix.policy.decision": this.decision,
      "entelix.approval.by": this.#by,
      "entelix.approval.option": this.#option,
      // The lifecycle has it for approved calls.
      "entelix.approval.wait_ms": this.allowed === false ? this.#waitMs : undefined,
    };
  }
}
