import { compareInstants, type Instant, type SignalAttributes } from "../../../events/door.ts";
import type { SignalList } from "./arrival.ts";
import { outputOf, textOf } from "./content.ts";
import type {
  PermissionOutcome,
  PolicyVerdict,
  ToolCallFields,
  ToolCallStarted,
} from "./events.ts";
import { ToolCall } from "./tool-call.ts";

/**
 * The open tool calls of one turn by ID. If an ID is opened twice, ends belong to the oldest call first, as in the
 * lifecycle.
 */
export class ToolCalls {
  /** Calls that were forgotten because too many were open. */
  forgotten = 0;
  readonly #runId: string;
  readonly #most: number;
  readonly #open = new Map<string, ToolCall[]>();
  #size = 0;
  /** Time of the last denied end of each ID, to recognise repeats. */
  readonly #deniedEnds = new Map<string, Instant>();

  /** @param most maximum number of open calls. */
  constructor(runId: string, most: number) {
    this.#runId = runId;
    this.#most = most;
  }

  /**
   * @param identified whether the event has an ID. Then an equal start is not a repeat.
   * @returns whether a call began.
   */
  start(
    { fields, id, name }: ToolCallStarted,
    at: Instant,
    identified: boolean,
    out: SignalList,
  ): boolean {
    const open = this.#newest(id);
    if (fields.status === "failed") {
      if (open !== undefined && open.allowed !== true && isSameName(open, name)) {
        if (open.name === "") open.name = name;
        open.update(fields);
        open.refuseUndecided(at);
        this.#reportDenied(id, open, at, textOf(fields), out);
        return false;
      }
      if (!identified && this.#isDeniedBefore(id, at)) return false;
    }
    const repeated = !identified && open?.name === name && !open.denied;
    out.add({
      tenantId: out.tenantId,
      runId: this.#runId,
      at,
      signal: "call_opens",
      callId: id,
      name,
      content: fields.rawInput,
      attributes: { "entelix.acp.tool_kind": fields.kind ?? undefined } satisfies SignalAttributes,
    });
    if (repeated) return false;
    if (open !== undefined && open.name === "" && !open.denied) {
      // Its decision came before its start.
      open.name = name;
      open.hasSpan = true;
      open.update(fields);
      return true;
    }
    // Its end was not seen: nothing else follows a denial.
    if (open?.denied) this.#remove(id, open);
    const call = this.#add(id, new ToolCall(name));
    call.hasSpan = true;
    call.update(fields);
    return true;
  }

  /** Opens a call that a sub-agent names but that was not seen. Its name is unknown. */
  openUnseen(callId: string, at: Instant, out: SignalList): void {
    // Its decision may have been seen.
    const call = this.#newest(callId) ?? this.#add(callId, new ToolCall(""));
    if (call.hasSpan) return;
    call.hasSpan = true;
    const { tenantId } = out;
    out.add({ tenantId, runId: this.#runId, at, signal: "call_opens", callId, name: "" });
  }

  progress(id: string, fields: ToolCallFields): void {
    this.#newest(id)?.progress(fields);
  }

  decide(id: string, verdict: PolicyVerdict, at: Instant, out: SignalList): void {
    if (verdict.kind === "unknown") return;
    const call = this.#newest(id) ?? this.#add(id, new ToolCall(""));
    if (call.decision !== undefined) return;
    switch (verdict.kind) {
      case "allow":
        call.allow();
        return;
      case "deny":
        call.deny(at);
        return;
      case "ask": {
        call.ask(verdict.options, at);
        if (verdict.options.length === 0) return;
        const on = { callId: id };
        out.add({
          tenantId: out.tenantId,
          runId: this.#runId,
          at,
          signal: "span_event",
          name: "entelix.approval_asked",
          on,
        });
        return;
      }
      default:
        verdict satisfies never;
    }
  }

  resolve(id: string, outcome: PermissionOutcome, at: Instant, out: SignalList): void {
    if (outcome.kind === "unknown") return;
    const call = this.#newest(id) ?? this.#add(id, new ToolCall(""));
    if (call.answered || call.denied) return;
    switch (outcome.kind) {
      case "selected":
        if (call.answer(outcome.option_id, at) === true) {
          const { name, waitMs } = call;
          out.add({
            tenantId: out.tenantId,
            runId: this.#runId,
            at,
            signal: "call_approved",
            callId: id,
            name,
            waitMs,
          });
        }
        return;
      case "cancelled": {
        call.cancelRequest(at);
        const attributes: SignalAttributes = {
          "entelix.approval.outcome": "cancelled",
          "entelix.approval.wait_ms": call.waitMs,
        };
        const on = { callId: id };
        out.add({
          tenantId: out.tenantId,
          runId: this.#runId,
          at,
          signal: "span_event",
          name: "entelix.approval",
          on,
          attributes,
        });
        return;
      }
      default:
        outcome satisfies never;
    }
  }

  /** @returns the call's name, empty if its start was not seen. `undefined` for a repeat. */
  finish(
    id: string,
    fields: ToolCallFields,
    at: Instant,
    identified: boolean,
    out: SignalList,
  ): string | undefined {
    const call = this.#open.get(id)?.[0];
    if (call === undefined && !identified && this.#isDeniedBefore(id, at)) return undefined;
    const name = call?.name ?? "";
    call?.update(fields);
    if (call !== undefined) this.#remove(id, call);
    if (call !== undefined && call.allowed === false) {
      this.#reportDenied(id, call, at, textOf(fields), out);
      this.#rememberDenied(id, at);
      return name;
    }
    const failed = fields.status === "failed";
    const attributes: SignalAttributes = call?.attributes() ?? {
      "entelix.acp.tool_status": fields.status ?? undefined,
    };
    out.add({
      tenantId: out.tenantId,
      runId: this.#runId,
      at,
      signal: "call_closes",
      callId: id,
      name,
      durationMs: 0,
      end: failed
        ? { outcome: "error", message: textOf(fields) ?? "", attributes }
        : { outcome: "complete", content: outputOf(fields), attributes },
    });
    return name;
  }

  /** The turn ends: reports the remaining refusals. The lifecycle closes open calls. */
  end(out: SignalList): void {
    for (const [id, calls] of this.#open) {
      for (const call of calls) {
        if (call.refusedAt !== undefined)
          this.#reportDenied(id, call, call.refusedAt, undefined, out);
      }
    }
  }

  #reportDenied(
    callId: string,
    call: ToolCall,
    at: Instant,
    content: string | undefined,
    out: SignalList,
  ): void {
    if (call.denied) return;
    call.denied = true;
    const { name } = call;
    const attributes = call.attributes();
    out.add({
      tenantId: out.tenantId,
      runId: this.#runId,
      at,
      signal: "call_denied",
      callId,
      name,
      content,
      attributes,
    });
  }

  #newest(id: string): ToolCall | undefined {
    return this.#open.get(id)?.at(-1);
  }

  #add(id: string, call: ToolCall): ToolCall {
    const calls = this.#open.get(id);
    if (calls === undefined) this.#open.set(id, [call]);
    else calls.push(call);
    this.#size++;
    if (this.#size > this.#most) this.#forgetOldest();
    return call;
  }

  #remove(id: string, call: ToolCall): void {
    const calls = this.#open.get(id);
    if (calls === undefined) return;
    calls.splice(calls.indexOf(call), 1);
    if (calls.length === 0) this.#open.delete(id);
    this.#size--;
  }

  #forgetOldest(): void {
    for (const [id, [oldest]] of this.#open) {
      if (oldest !== undefined) this.#remove(id, oldest);
      this.forgotten++;
      return;
    }
  }

  #rememberDenied(id: string, at: Instant): void {
    if (this.#deniedEnds.size >= this.#most) this.#deniedEnds.clear();
    this.#deniedEnds.set(id, at);
  }

  #isDeniedBefore(id: string, at: Instant): boolean {
    const end = this.#deniedEnds.get(id);
    return end !== undefined && compareInstants(at, end) <= 0;
  }
}

/** Older versions leave the name empty when they start a call again. */
function isSameName(call: ToolCall, name: string): boolean {
  return name === "" || call.name === "" || call.name === name;
}
