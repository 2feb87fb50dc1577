import type { Call } from "./call.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Run } from "./run.ts";
import type { NoteTarget, Signal, SignalKind, SignalPlace } from "./signal.ts";
import type { CallEnd, ModelEnd } from "./signals.ts";
import type { SpanDriver } from "./span-driver.ts";

type Of<K extends SignalKind["signal"]> = SignalPlace & Extract<SignalKind, { signal: K }>;

/** Signals that do not say that a run which looked over goes on. */
const LEAVES_END: ReadonlySet<string> = new Set(["run_may_end", "run_closes", "heard", "late"]);

/**
 * Carries the signals of a dialect out on the lifecycle. What only some runtimes say (model calls,
 * points in time, more facts, an end that is none if anything follows) is taken here; all else goes
 * the way that entelix's events go.
 */
export class SignalApplier<H> {
  readonly #lifecycle: Lifecycle<H>;
  readonly #driver: SpanDriver<H>;

  constructor(lifecycle: Lifecycle<H>, driver: SpanDriver<H>) {
    this.#lifecycle = lifecycle;
    this.#driver = driver;
  }

  apply(signal: Signal): void {
    const { tenantId, runId, at } = signal;
    const lifecycle = this.#lifecycle;
    if (!LEAVES_END.has(signal.signal)) this.#goesOn(signal);
    switch (signal.signal) {
      case "run_opens":
        this.#openRun(signal);
        return;
      case "run_closes":
        this.#closeRun(signal);
        return;
      case "run_may_end": {
        const run = this.#known(signal);
        const { end, over, model } = signal;
        if (run !== undefined) run.mayEnd = { at, end, over, model };
        return;
      }
      case "call_opens": {
        const { callId, name, version, content, facts } = signal;
        const opened = lifecycle.startCall(tenantId, runId, at, callId, name, version, content);
        const handle = opened ? lifecycle.lastCall?.handle : undefined;
        if (handle !== undefined && facts !== undefined) this.#driver.addFacts(handle, facts);
        return;
      }
      case "call_closes": {
        const { callId, name, durationMs, problem, content, facts } = signal;
        const version = undefined;
        lifecycle.endCall(
          tenantId,
          runId,
          at,
          callId,
          name,
          version,
          durationMs,
          problem,
          content,
          facts,
        );
        return;
      }
      case "call_approved":
        this.#approve(signal);
        return;
      case "call_denied":
        this.#deny(signal);
        return;
      case "model_opens": {
        const run = this.#open(signal);
        if (run === undefined) return;
        lifecycle.runs.touch(run, at);
        lifecycle.runs.models.open(run, at, signal);
        return;
      }
      case "model_closes":
        this.#closeModel(signal);
        return;
      case "note":
        this.#note(signal);
        return;
      case "facts": {
        const run = this.#open(signal);
        if (run === undefined) return;
        lifecycle.runs.touch(run, at);
        if (run.handle !== undefined) this.#driver.addFacts(run.handle, signal.facts);
        return;
      }
      case "heard": {
        const run = this.#known(signal);
        if (run !== undefined) lifecycle.runs.touch(run, at);
        return;
      }
      case "late":
        lifecycle.counters.ignored[signal.reason]++;
        return;
      default:
        signal satisfies never;
    }
  }

  /** Something was heard of the run: what looked like its end was none. */
  #goesOn(signal: SignalPlace): void {
    const run = this.#known(signal);
    if (run?.mayEnd !== undefined) run.mayEnd = undefined;
  }

  #openRun(signal: Of<"run_opens">): void {
    const { tenantId, runId, at, agent, parentRunId, facts } = signal;
    const opened = this.#lifecycle.startRun(tenantId, runId, at, agent, parentRunId, signal);
    const handle = opened ? this.#lifecycle.lastRun?.handle : undefined;
    if (handle !== undefined && facts !== undefined) this.#driver.addFacts(handle, facts);
  }

  #closeRun(signal: Of<"run_closes">): void {
    const { tenantId, runId, at, end, supposed } = signal;
    if (supposed === true && this.#known(signal)?.open !== true) return;
    if (end.outcome !== "abandoned") {
      this.#lifecycle.endRun(tenantId, runId, at, end);
      return;
    }
    const run = this.#known(signal);
    if (run !== undefined) this.#lifecycle.runs.abandon(run, end.reason, at);
  }

  #approve(signal: Of<"call_approved">): void {
    const { tenantId, runId, at, callId, name, waitMs } = signal;
    const call = this.#openCall(signal);
    const noted = this.#lifecycle.approveCall(tenantId, runId, at, callId, name, waitMs);
    const run = this.#lifecycle.lastRun;
    if (call === undefined || !noted || run?.approvals === undefined) return;
    // It is open already: the approval is this call's, and not the next one's.
    run.approvals.pop();
    call.approved = true;
    call.approvalWaitMs = waitMs;
  }

  #deny(signal: Of<"call_denied">): void {
    const { tenantId, runId, at, callId, name, content, facts } = signal;
    const run = this.#known(signal);
    const call = this.#openCall(signal);
    if (run === undefined || call === undefined) {
      this.#lifecycle.denyCall(tenantId, runId, at, callId, name, content, facts);
      return;
    }
    this.#lifecycle.runs.touch(run, at);
    run.deniedCalls++;
    const end: CallEnd = { outcome: "denied", content, facts };
    this.#lifecycle.runs.calls.close(run, call, at, end);
  }

  #closeModel(signal: Of<"model_closes">): void {
    const run = this.#known(signal);
    if (run === undefined || !run.open) return;
    this.#lifecycle.runs.touch(run, signal.at);
    this.#lifecycle.runs.models.close(run, signal.at, modelEndOf(signal));
  }

  #note(signal: Of<"note">): void {
    const run = this.#open(signal);
    if (run === undefined) return;
    this.#lifecycle.runs.touch(run, signal.at);
    const handle = this.#handleOf(run, signal.on ?? "run");
    if (handle !== undefined) this.#driver.note(run, handle, signal.at, signal.name, signal.facts);
  }

  /** The span a note is about; the run's where that is not open. */
  #handleOf(run: Run<H>, target: NoteTarget): H | undefined {
    if (target === "run") return run.handle;
    if (target === "model") return run.modelCall?.handle ?? run.handle;
    return run.calls.newestOf(target.callId)?.handle ?? run.handle;
  }

  #known({ tenantId, runId }: SignalPlace): Run<H> | undefined {
    return this.#lifecycle.runs.find(tenantId, runId);
  }

  /** The run, opened if it was never seen; `undefined` where it is over. */
  #open({ tenantId, runId, at }: SignalPlace): Run<H> | undefined {
    return this.#lifecycle.openRunOf(tenantId, runId, at);
  }

  #openCall(signal: SignalPlace & { readonly callId: string; readonly name: string }) {
    const run = this.#known(signal);
    const call: Call<H> | undefined = run?.open
      ? run.calls.oldestOf(signal.callId, signal.name)
      : undefined;
    return call;
  }
}

function modelEndOf({ facts, problem, unfinished }: Of<"model_closes">): ModelEnd {
  if (problem !== undefined) return { outcome: "error", problem, facts };
  return { outcome: unfinished === true ? "unfinished" : "complete", facts };
}
