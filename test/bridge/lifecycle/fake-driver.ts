import type { Link } from "../../../src/bridge/lifecycle/parent-context.ts";
import type { Call, ModelCall, Step } from "../../../src/bridge/lifecycle/part.ts";
import type { Run } from "../../../src/bridge/lifecycle/run.ts";
import type { SpanDriver } from "../../../src/bridge/lifecycle/span-driver.ts";
import type { SpanAttributes } from "../../../src/events/door.ts";

/**
 * A driver that makes no spans and writes down what it is asked for; a handle is the span's id. It
 * can be told to throw, which a driver must not do.
 */
export class FakeDriver implements SpanDriver<string> {
  readonly done: string[] = [];
  /** The links of all runs that were opened. */
  readonly links: Link<string>[] = [];
  /** Throws at the calls of this operation while it is set. */
  broken: string | undefined = undefined;

  #do(operation: string, what: string): void {
    if (this.broken === operation) throw new Error(operation);
    this.done.push(`${operation} ${what}`);
  }

  openRun(
    run: Run<string>,
    _at: unknown,
    _parent: string | undefined,
    links: readonly Link<string>[] | undefined,
  ): string {
    this.links.push(...(links ?? []));
    this.#do("openRun", run.spanId);
    return run.spanId;
  }

  runAsked(): void {}

  completeRun(run: Run<string>): void {
    this.#do("completeRun", run.spanId);
  }

  followsCalls(): boolean {
    return true;
  }

  closeRun(run: Run<string>, _at: unknown, end: { outcome: string }): void {
    this.#do("closeRun", `${run.spanId} ${end.outcome}`);
  }

  openCall(
    run: Run<string>,
    call: Call<string>,
    _at?: unknown,
    _content?: unknown,
    step?: string,
  ): string {
    const span = run.ids.childSpanId("t", call.id, call.occurrence);
    this.#do("openCall", step === undefined ? span : `${span} in ${step}`);
    return span;
  }

  closeCall(run: Run<string>, call: Call<string>, _at: unknown, end: { outcome: string }): void {
    this.#do("closeCall", `${run.ids.childSpanId("t", call.id, call.occurrence)} ${end.outcome}`);
  }

  openModelCall(
    run: Run<string>,
    call: ModelCall<string>,
    _at?: unknown,
    _opening?: unknown,
    step?: string,
  ): string {
    const span = run.ids.childSpanId("m", String(call.ordinal));
    this.#do("openModelCall", step === undefined ? span : `${span} in ${step}`);
    return span;
  }

  closeModelCall(
    _run: Run<string>,
    call: ModelCall<string>,
    _at: unknown,
    end: { outcome: string },
  ): void {
    this.#do("closeModelCall", `${call.handle} ${end.outcome}`);
  }

  openStep(
    run: Run<string>,
    step: Step<string>,
    _at: unknown,
    _content: unknown,
    parent: string | undefined,
  ): string {
    const span = run.ids.childSpanId("p", String(step.ordinal));
    this.#do("openStep", `${span} in ${parent ?? "run"}`);
    return span;
  }

  closeStep(_run: Run<string>, step: Step<string>, _at: unknown, end: { outcome: string }): void {
    this.#do("closeStep", `${step.handle} ${end.outcome}`);
  }

  addAttributes(handle: string, attributes: SpanAttributes): void {
    this.#do("addAttributes", `${handle} ${JSON.stringify(attributes)}`);
  }

  addEvent(_run: unknown, handle: string, _at: unknown, name: string): void {
    this.#do("addEvent", `${handle} ${name}`);
  }

  addApprovalEvent(run: Run<string>): undefined {
    this.#do("addApprovalEvent", run.spanId);
  }

  mark(run: Run<string>): void {
    this.#do("mark", run.spanId);
  }

  linkResumed(run: Run<string>): void {
    this.#do("linkResumed", run.spanId);
  }

  derived(_traceId: string, spanId: string): string {
    return spanId;
  }

  condense(run: Run<string>): string {
    return run.handle ?? "";
  }

  restore(_run: Run<string>, memory: string | number): string {
    return String(memory);
  }
}
