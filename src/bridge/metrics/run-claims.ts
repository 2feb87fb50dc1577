import { type MeterProvider, metrics, type TracerProvider } from "@opentelemetry/api";
import {
  type CallEnd,
  type Instant,
  type Loop,
  type ModelEnd,
  processWide,
  type RunEnd,
} from "../../events/door.ts";
import { VERSION } from "../../version.ts";
import type { CallDecision, ModelCall, Run, RunObserver } from "../lifecycle/door.ts";
import { currentProvider, isNoProvider } from "../spans/provider-state.ts";

/** An open run, the first bridge that got it, and the first one that measures it. */
interface Claim {
  readonly by: RunClaims;
  measuredBy: RunClaims | undefined;
  readonly tenantId: string;
}

type Claims = Map<string, Claim>;

function isClaims(value: unknown): value is Claims {
  return value instanceof Map;
}

/** The open runs of all live bridges of the process, by run ID. */
function claimsOfProcess(): Claims {
  // With the version, since only copies of one version know each other's claims.
  return processWide(`run-claims@${VERSION}`, isClaims, () => new Map());
}

/** The providers of a bridge. Default: the global ones. */
export interface Providers {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * Finds runs that another bridge of the process has open, too. Both make spans with the same IDs, and the metrics would
 * count the run twice: only the first bridge on a meter provider measures it.
 */
export class RunClaims {
  readonly #open = claimsOfProcess();
  readonly #providers: Providers;
  readonly #onSameRun: () => void;
  /** Open runs that another bridge measures. */
  readonly #repeated = new Set<Run<unknown>>();

  /** @param onSameRun called for each run that another bridge on the same tracer provider has, too. */
  constructor(providers: Providers, onSameRun: () => void) {
    this.#providers = providers;
    this.#onSameRun = onSameRun;
  }

  opened(run: Run<unknown>): void {
    const claim = this.#open.get(run.runId);
    if (claim === undefined) {
      this.#open.set(run.runId, { by: this, measuredBy: undefined, tenantId: run.tenantId });
      return;
    }
    if (claim.by === this || claim.tenantId !== run.tenantId) return;
    if (claim.by.tracerProvider !== this.tracerProvider) return;
    if (!isNoProvider(this.#providers.tracerProvider)) this.#onSameRun();
  }

  /** The bridge starts to measure the open run. A bridge without metrics never does. */
  measured(run: Run<unknown>): void {
    const claim = this.#open.get(run.runId);
    if (claim === undefined || claim.tenantId !== run.tenantId) return;
    claim.measuredBy ??= this;
    const { measuredBy } = claim;
    if (measuredBy === this || measuredBy.meterProvider !== this.meterProvider) return;
    this.#repeated.add(run);
  }

  closed(run: Run<unknown>): void {
    this.#repeated.delete(run);
    if (this.#open.get(run.runId)?.by === this) this.#open.delete(run.runId);
  }

  /** Whether another bridge measures the open run. */
  isRepeated(run: Run<unknown>): boolean {
    return this.#repeated.size > 0 && this.#repeated.has(run);
  }

  get tracerProvider(): unknown {
    return currentProvider(this.#providers.tracerProvider);
  }

  get meterProvider(): unknown {
    return this.#providers.meterProvider ?? metrics.getMeterProvider();
  }
}

/** Passes on what no other bridge measures. */
export class FirstObserver implements RunObserver {
  readonly #claims: RunClaims;
  readonly #inner: RunObserver;

  constructor(claims: RunClaims, inner: RunObserver) {
    this.#claims = claims;
    this.#inner = inner;
  }

  runOpened(run: Run<unknown>): void {
    this.#claims.measured(run);
    if (!this.#claims.isRepeated(run)) this.#inner.runOpened(run);
  }

  runNamed(run: Run<unknown>): void {
    if (!this.#claims.isRepeated(run)) this.#inner.runNamed(run);
  }

  runResumed(run: Run<unknown>, resumedFromRunId: string): void {
    if (!this.#claims.isRepeated(run)) this.#inner.runResumed(run, resumedFromRunId);
  }

  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void {
    if (!this.#claims.isRepeated(run)) this.#inner.runClosed(run, at, end);
  }

  callDecided(run: Run<unknown>, at: Instant, decision: CallDecision): void {
    if (!this.#claims.isRepeated(run)) this.#inner.callDecided(run, at, decision);
  }

  callEnded(run: Run<unknown>, name: string, durationMs: number, end: CallEnd): void {
    if (!this.#claims.isRepeated(run)) this.#inner.callEnded(run, name, durationMs, end);
  }

  loopFound(run: Run<unknown>, loop: Loop): void {
    if (!this.#claims.isRepeated(run)) this.#inner.loopFound(run, loop);
  }

  modelEnded(run: Run<unknown>, call: ModelCall<unknown>, at: Instant, end: ModelEnd): void {
    if (!this.#claims.isRepeated(run)) this.#inner.modelEnded(run, call, at, end);
  }
}
