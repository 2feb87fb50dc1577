import type { Attributes } from "@opentelemetry/api";
import {
  APPROVAL_EVENT,
  type AttributeName,
  type CallEnd,
  type DecisionDetails,
  type FailureKindId,
  type Instant,
  type KnownAttributes,
  MARKER_SPAN,
  type ModelEnd,
  type ModelOpening,
  type OwnAttributes,
  type RunEnd,
  type SpanAttributes,
  type StepEnd,
} from "../../events/door.ts";
import type { Call, Link, ModelCall, Run, SpanDriver, Step } from "../lifecycle/door.ts";
import type { RunClaims } from "../metrics/run-claims.ts";
import type { RunRows } from "../run-rows.ts";
import { type ContentPolicy, CutCounts } from "./content.ts";
import type { CustomAttributes, SpanOpening } from "./custom-attributes.ts";
import { DecisionAttributes } from "./decision-attributes.ts";
import { ExceptionEvents } from "./exception-events.ts";
import { ModelSpans } from "./model-spans.ts";
import { plainContext } from "./plain-context.ts";
import { nameIn, SpanEnds } from "./span-ends.ts";
import { attributesOf, parentIn, SpanHandle, toOtelLink } from "./span-handle.ts";
import type { SpanPort } from "./span-port.ts";
import { StepSpans } from "./step-spans.ts";
import type { SpanSubject } from "./subject.ts";

/** Data of the audit log that a run's span needs before it ends. */
export interface AuditAnchor {
  readonly ordinal: number | undefined;
  readonly hash: string | undefined;
  readonly failed: boolean;
}

export interface OtelDriverOptions {
  readonly port: SpanPort;
  readonly content: ContentPolicy;
  readonly subject: SpanSubject;
  readonly custom: CustomAttributes | undefined;
  readonly benign: ReadonlySet<FailureKindId>;
  /** Whether spans contain the person who decided about a call. */
  readonly approvalPerson: boolean;
  /** Whether failed spans get an `exception` event. */
  readonly exceptions: boolean;
  /** The audit rows that a run's span waits for. With them, all calls are followed: rows have span IDs. */
  readonly rows: RunRows | undefined;
  /** Absent in a replay. */
  readonly claims?: RunClaims | undefined;
}

/** Attributes of sources that need redaction and a size limit. */
const OPERATOR_TEXT: AttributeName = "entelix.error.message";

/** The bit above the eight trace flags. */
const RECORDED = 0x100;

/** Executes the lifecycle's span operations on a tracer: names, attributes, statuses. */
export class OtelDriver implements SpanDriver<SpanHandle> {
  readonly #port: SpanPort;
  readonly #content: ContentPolicy;
  readonly #subject: SpanSubject;
  readonly #custom: CustomAttributes | undefined;
  readonly #decisions: DecisionAttributes;
  readonly #ends: SpanEnds;
  readonly #models: ModelSpans;
  readonly #steps: StepSpans;
  readonly #rows: RunRows | undefined;
  readonly #claims: RunClaims | undefined;

  constructor(options: OtelDriverOptions) {
    this.#claims = options.claims;
    this.#port = options.port;
    this.#content = options.content;
    this.#subject = options.subject;
    this.#custom = options.custom;
    const exceptions = new ExceptionEvents(options.content, options.exceptions);
    this.#decisions = new DecisionAttributes(options.content, options.approvalPerson);
    this.#ends = new SpanEnds({ ...options, decisions: this.#decisions, exceptions });
    this.#models = new ModelSpans(options.port, this.#ends);
    this.#steps = new StepSpans(options.port, options.content, options.subject, exceptions);
    this.#rows = options.rows;
  }

  openRun(
    run: Run<SpanHandle>,
    at: Instant,
    parent: SpanHandle | undefined,
    links: readonly Link<SpanHandle>[] | undefined,
  ): SpanHandle {
    this.#claims?.opened(run);
    const agent = nameIn(run.agent);
    const { operation, spanId } = run;
    const attributes: KnownAttributes = {
      "gen_ai.operation.name": operation,
      "gen_ai.agent.name": agent,
      "entelix.run_id": run.runId,
      "entelix.tenant_id": run.tenantId,
    };
    if (operation === "invoke_workflow") attributes["gen_ai.workflow.name"] = agent;
    if (run.parentRunId !== undefined) attributes["entelix.parent_run_id"] = run.parentRunId;
    const conversation = this.#subject.conversationOf(run);
    if (conversation !== undefined) attributes["gen_ai.conversation.id"] = conversation;
    if (run.parentMissing) attributes["entelix.parent.missing"] = true;
    if (run.parentInferred) attributes["entelix.parent.inferred"] = true;
    if (run.resumedFromRunId !== undefined) {
      attributes["entelix.run.resumed_from"] = run.resumedFromRunId;
    }
    if (run.segment > 1) attributes["entelix.run.segment"] = run.segment;
    if (run.startUnseen) attributes["entelix.run.start_unseen"] = true;
    if (run.owner !== undefined) Object.assign(attributes, this.#subject.ownerOf(run));
    const name = agent === undefined ? operation : `${operation} ${agent}`;
    const linked = links?.map(toOtelLink);
    const handle = this.#port.start(name, attributes, at, parent, run.traceId, spanId, linked);
    this.#addCustom(handle, run, { operation });
    return handle;
  }

  followsCalls(run: Run<SpanHandle>): boolean {
    return this.#rows !== undefined || run.handle === undefined || run.handle.recorded;
  }

  completeRun(run: Run<SpanHandle>, links: readonly Link<SpanHandle>[]): void {
    const handle = run.handle;
    if (handle === undefined || !handle.recording) return;
    const agent = nameIn(run.agent);
    const { operation } = run;
    const attributes: KnownAttributes = {
      "gen_ai.operation.name": operation,
      "gen_ai.agent.name": agent,
      "gen_ai.workflow.name": operation === "invoke_workflow" ? agent : undefined,
      "entelix.parent_run_id": run.parentRunId,
      "gen_ai.conversation.id": this.#subject.conversationOf(run),
      "entelix.run.resumed_from": run.resumedFromRunId,
    };
    if (run.owner !== undefined) Object.assign(attributes, this.#subject.ownerOf(run));
    try {
      if (agent !== undefined) handle.span.updateName(`${operation} ${agent}`);
      handle.span.setAttributes(attributes);
      for (const link of links) handle.span.addLink(toOtelLink(link));
    } catch (error) {
      this.#port.contain(error);
    }
  }

  runAsked(run: Run<SpanHandle>, asked: unknown): void {
    const { handle } = run;
    if (handle === undefined || !handle.recording) return;
    try {
      this.#ends.describeQuestion(handle, run, asked);
    } catch (error) {
      this.#port.contain(error);
    }
  }

  closeRun(run: Run<SpanHandle>, at: Instant, end: RunEnd, byEvent: boolean): void {
    this.#claims?.closed(run);
    const handle = run.handle;
    if (handle === undefined) return;
    if (handle.recording) {
      // Errors of malformed values are caught, too, so that the span always ends.
      try {
        this.#ends.describeRun(handle, run, end, at);
      } catch (error) {
        this.#port.contain(error);
      }
    }
    if (this.#rows === undefined) this.#port.end(handle, at);
    else this.#rows.end(handle, (anchor) => this.#endAudited(handle, at, anchor), byEvent);
  }

  openCall(
    run: Run<SpanHandle>,
    call: Call<SpanHandle>,
    at: Instant,
    content: unknown,
    step: SpanHandle | undefined,
  ): SpanHandle | undefined {
    const parent = parentIn(run, step);
    if (parent === undefined) return undefined;
    // Only the attributes that samplers and processors can use. The others follow at the end: the SDK checks
    // an attribute three times at the start, and once later.
    const attributes: KnownAttributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": nameIn(call.name),
      "entelix.run_id": run.runId,
      "entelix.tenant_id": run.tenantId,
    };
    let cuts: CutCounts | undefined;
    // `null` for a tool without input.
    if (this.#content.captures && content !== undefined && content !== null) {
      const field = "gen_ai.tool.call.arguments";
      const { tenantId, runId } = run;
      cuts = new CutCounts();
      const where = { attribute: field, tenantId, runId, tool: call.name };
      attributes[field] = this.#content.value(content, where, cuts);
    }
    const { spanId } = call;
    const name = call.name === "" ? "execute_tool" : `execute_tool ${call.name}`;
    const handle = this.#port.start(name, attributes, at, parent, run.traceId, spanId, undefined);
    if (cuts !== undefined && cuts.bytes > 0) handle.cut(cuts.bytes, cuts.messages);
    this.#addCustom(handle, run, { operation: "execute_tool", tool: call.name });
    return handle;
  }

  closeCall(run: Run<SpanHandle>, call: Call<SpanHandle>, at: Instant, end: CallEnd): void {
    const handle = call.handle;
    if (handle === undefined) return;
    if (handle.recording) {
      try {
        this.#ends.describeCall(handle, run, call, end, at);
      } catch (error) {
        this.#port.contain(error);
      }
    }
    this.#port.end(handle, at);
  }

  openModelCall(
    run: Run<SpanHandle>,
    call: ModelCall<SpanHandle>,
    at: Instant,
    opening: ModelOpening,
    step: SpanHandle | undefined,
  ): SpanHandle | undefined {
    const handle = this.#models.open(run, call, at, opening, step);
    const { model, operation } = call;
    if (handle !== undefined) this.#addCustom(handle, run, { operation, model });
    return handle;
  }

  closeModelCall(
    run: Run<SpanHandle>,
    call: ModelCall<SpanHandle>,
    at: Instant,
    end: ModelEnd,
  ): void {
    this.#models.close(run, call, at, end);
  }

  openStep(
    run: Run<SpanHandle>,
    step: Step<SpanHandle>,
    at: Instant,
    content: unknown,
    around: SpanHandle | undefined,
  ): SpanHandle | undefined {
    return this.#steps.open(run, step, at, content, around);
  }

  closeStep(run: Run<SpanHandle>, step: Step<SpanHandle>, at: Instant, end: StepEnd): void {
    this.#steps.close(run, step, at, end);
  }

  addAttributes(handle: SpanHandle, attributes: SpanAttributes): void {
    if (!handle.recording) return;
    try {
      handle.setAttributes(attributes);
    } catch (error) {
      this.#port.contain(error);
    }
  }

  addEvent(
    run: Run<SpanHandle>,
    handle: SpanHandle,
    at: Instant,
    name: string,
    given: SpanAttributes | undefined,
  ): void {
    if (!handle.recording) return;
    try {
      const attributes = given === undefined ? undefined : attributesOf(given);
      const text = attributes?.[OPERATOR_TEXT];
      if (attributes !== undefined && typeof text === "string") {
        const { tenantId, runId } = run;
        const where = { attribute: OPERATOR_TEXT, tenantId, runId };
        attributes[OPERATOR_TEXT] = this.#content.errorText(text, where);
      }
      handle.span.addEvent(name, attributes, at);
    } catch (error) {
      this.#port.contain(error);
    }
  }

  addApprovalEvent(
    run: Run<SpanHandle>,
    at: Instant,
    callId: string,
    name: string,
    decision: DecisionDetails | undefined,
  ): SpanAttributes | undefined {
    if (run.handle === undefined || !run.handle.recording) return undefined;
    try {
      const known = decision && this.#decisions.withoutContent(decision, "approved");
      const attributes: OwnAttributes = {
        "entelix.approval.outcome": "approved",
        ...known,
        "gen_ai.tool.name": nameIn(name),
        "gen_ai.tool.call.id": callId,
      };
      run.handle.span.addEvent(APPROVAL_EVENT, attributesOf(attributes), at);
      return decision && this.#decisions.of(decision, "approved", run, name);
    } catch (error) {
      this.#port.contain(error);
      return undefined;
    }
  }

  mark(run: Run<SpanHandle>, at: Instant): void {
    if (run.handle === undefined || !run.handle.recording) return;
    const attributes: KnownAttributes = {
      "entelix.run_id": run.runId,
      "entelix.tenant_id": run.tenantId,
      "gen_ai.agent.name": nameIn(run.agent),
      "entelix.run.open": true,
    };
    const id = run.ids.childSpanId("o", "");
    const { handle: parent, traceId } = run;
    this.#port.end(
      this.#port.start(MARKER_SPAN, attributes, at, parent, traceId, id, undefined),
      at,
    );
  }

  linkResumed(run: Run<SpanHandle>, link: Link<SpanHandle>): void {
    if (run.handle === undefined || !run.handle.recording) return;
    const attributes: KnownAttributes = { "entelix.run.resumed_from": run.resumedFromRunId };
    this.#set(run.handle, attributes);
    try {
      run.handle.span.addLink(toOtelLink(link));
    } catch (error) {
      this.#port.contain(error);
    }
  }

  derived(traceId: string, spanId: string, near?: SpanHandle): SpanHandle {
    if (near === undefined) {
      // Sampled, so that stock parent-based samplers keep the child. The sampler of this package decides by
      // trace ID.
      return SpanHandle.remote({ traceId, spanId, traceFlags: 1, isRemote: true }, true);
    }
    if (!near.recorded || near.foreign) return near;
    return SpanHandle.ended({ ...plainContext(near.spanContext), traceId, spanId }, true);
  }

  condense(run: Run<SpanHandle>): SpanHandle | number {
    const context = run.handle?.spanContext;
    if (run.handle === undefined || context === undefined) return 0;
    const derivable =
      context.traceId === run.traceId &&
      context.spanId === run.spanId &&
      context.traceState === undefined;
    return derivable ? context.traceFlags | (run.handle.recorded ? RECORDED : 0) : run.handle;
  }

  restore(run: Run<SpanHandle>, memory: SpanHandle | number): SpanHandle {
    if (typeof memory !== "number") return memory;
    const { traceId, spanId } = run;
    return SpanHandle.ended(
      { traceId, spanId, traceFlags: memory & 0xff },
      (memory & RECORDED) !== 0,
    );
  }

  #endAudited(handle: SpanHandle, at: Instant, anchor: AuditAnchor): void {
    if (handle.recording) {
      const attributes: KnownAttributes = {
        "entelix.audit.ordinal": anchor.ordinal,
        "entelix.audit.hash": anchor.hash,
      };
      if (anchor.failed) attributes["entelix.audit.failed"] = true;
      this.#set(handle, attributes);
    }
    this.#port.end(handle, at);
  }

  #set(handle: SpanHandle, attributes: Attributes): void {
    try {
      handle.span.setAttributes(attributes);
    } catch (error) {
      this.#port.contain(error);
    }
  }

  #addCustom(handle: SpanHandle, run: Run<SpanHandle>, span: SpanOpening): void {
    if (this.#custom === undefined || !handle.recording) return;
    const attributes = this.#custom.of(run, span);
    if (attributes !== undefined) this.#set(handle, attributes);
  }
}
