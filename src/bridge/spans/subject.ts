import type { AttributeValue } from "@opentelemetry/api";
import type { AttributeName } from "../../events/door.ts";
import type { Run } from "../lifecycle/door.ts";
import type { TelemetryOptions } from "../telemetry-options.ts";
import { ownerAttributes } from "./run-owners.ts";
import type { SpanHandle } from "./span-handle.ts";

/** Options for the user, the session and the conversation of a run. */
export interface SubjectOptions {
  /**
   * Whether every span of a run has its user, session and conversation: `user.id`, `session.id`,
   * `gen_ai.conversation.id`. Some backends filter by span, not by trace. Default: only with OpenInference's names
   * (`conventions`); else the run has all three, and its model and tool calls have the conversation.
   */
  readonly subjectOnAllSpans?: boolean | undefined;
  /**
   * Whether a session and a conversation have the tenant in their ID on spans: `acme/visit-3`. Backends join
   * sessions by ID alone, so that equal IDs of two tenants would be one session. Default `false`.
   */
  readonly sessionPerTenant?: boolean | undefined;
  /**
   * Whether a run takes `user.id`, `session.id` and `gen_ai.conversation.id` from OpenTelemetry's baggage of the
   * active context, if its sender names none. Baggage can come from outside with an HTTP request. Live only.
   * Default `false`.
   */
  readonly subjectFromBaggage?: boolean | undefined;
}

/** Sets user, session and conversation on spans. */
export class SpanSubject {
  readonly #isOnAll: boolean;
  readonly #isPerTenant: boolean;

  constructor({ conventions = "genai", ...options }: TelemetryOptions) {
    this.#isOnAll = options.subjectOnAllSpans ?? conventions !== "genai";
    this.#isPerTenant = options.sessionPerTenant === true;
  }

  /** `gen_ai.conversation.id`. */
  conversationOf({ tenantId, threadId }: Run<unknown>): string | undefined {
    return threadId === undefined ? undefined : this.#shown(tenantId, threadId);
  }

  /** User, session, tags and metadata of the run's own span. */
  ownerOf({
    owner,
    tenantId,
  }: Run<unknown>): Partial<Record<AttributeName, AttributeValue | undefined>> | undefined {
    if (owner === undefined) return undefined;
    const attributes = ownerAttributes(owner);
    if (owner.session !== undefined) {
      attributes["session.id"] = this.#shown(tenantId, owner.session);
    }
    return attributes;
  }

  /** Sets them on the span of a model or tool call. */
  setOnCall(handle: SpanHandle, run: Run<unknown>): void {
    if (run.threadId !== undefined) {
      handle.set("gen_ai.conversation.id", this.conversationOf(run));
    }
    if (this.#isOnAll) this.#setOwner(handle, run);
  }

  /** Sets them on the span of a step. */
  setOnStep(handle: SpanHandle, run: Run<unknown>): void {
    if (this.#isOnAll) this.setOnCall(handle, run);
  }

  #setOwner(handle: SpanHandle, { owner, tenantId }: Run<unknown>): void {
    handle.set("user.id", owner?.user);
    const session = owner?.session;
    if (session !== undefined) handle.set("session.id", this.#shown(tenantId, session));
  }

  /** With the tenant, two IDs are equal only if both tenant and ID are. */
  #shown(tenantId: string, id: string): string {
    if (!this.#isPerTenant) return id;
    return `${tenantId.replace(/[%/]/g, encodeURIComponent)}/${id}`;
  }
}
