import { type MeterProvider, ProxyTracerProvider, type TracerProvider } from "@opentelemetry/api";
import type { TracerProvider as SdkTracerProvider } from "@opentelemetry/sdk-trace";
import { type ClosableSink, checkArgument } from "../../events/door.ts";
import { Bridge, internalsOf } from "../bridge.ts";
import type { ChunkSpanProcessor } from "../export/chunk-span-processor.ts";
import { firstOpenRuns, type OpenRun, type OpenRunsOptions } from "../open-runs.ts";
import type { ErrorHook, Reporter } from "../report.ts";
import { LONGEST_WAIT_MS, within } from "../spans/within.ts";
import type { BridgeOptions } from "../telemetry-options.ts";
import { beforeProcessEnds, type EndOptions } from "./process-end.ts";
import { unregister } from "./provider-registration.ts";
import { reportStep } from "./setup-watch.ts";
import type { LossReporter, SpanCounts, SpanLedger } from "./span-ledger.ts";

/** The parts that `setupTracing` creates. */
export interface TracingParts {
  /** `undefined` if `OTEL_SDK_DISABLED` is `true`. */
  readonly provider: SdkTracerProvider | undefined;
  /** `undefined` without OTLP. */
  readonly otlp: ChunkSpanProcessor | undefined;
  readonly ledger: SpanLedger;
  readonly losses: LossReporter;
  readonly reporter: Reporter;
  readonly registered: boolean;
  readonly shutdownTimeoutMs: number;
  /** The ends of the process at which tracing shuts down by itself. */
  readonly ends: EndOptions;
  /** Time limit of a flush, in ms. */
  readonly flushMs: number;
  /** The names of attributes on spans of its bridges. */
  readonly conventions: BridgeOptions["conventions"];
  readonly onError: ErrorHook | undefined;
}

/** The metrics of a process with tracing. */
export interface MetricsPart {
  /** For sinks and instrumentations. */
  readonly meterProvider: MeterProvider;
  forceFlush(): Promise<void>;
  /** Sends the last metrics. It must not reject. */
  shutdown(): Promise<void>;
  /** Stops waiting for {@link shutdown}. The caller reports that; later errors are not reported. */
  giveUp(): void;
}

/** Share of the shutdown time for closing sinks. The rest is for sending. */
const SINKS_SHARE = 0.5;

/** Share of the shutdown time that is reserved for the last metrics. */
const METRICS_SHARE = 0.2;

/** A flush of spans ends by itself at the limit of the whole flush. */
const FLUSH_GRACE_MS = 100;

/** The provider waits longer than its processor, whose own error has more details. In ms. */
const PROVIDER_GRACE_MS = 1_000;

/** A sink may throw. */
async function callFlush(sink: ClosableSink): Promise<void> {
  await sink.forceFlush?.();
}

/** Share for a bridge's audit rows. Less than {@link SINKS_SHARE}, so that it can still close its spans. */
const ROWS_SHARE = 0.4;

/** Tracing of a process, created by `setupTracing`. {@link Tracing.shutdown} ends it. */
export class Tracing {
  /** For sinks and instrumentations. It makes no spans if `OTEL_SDK_DISABLED` is `true`. */
  readonly tracerProvider: TracerProvider;
  /**
   * Whether the provider is registered globally. False if another provider was registered before.
   */
  readonly registered: boolean;
  readonly #parts: TracingParts;
  /** Each sink, and the object whose `forceFlush` and `shutdown` are called. A bridge's does not flush the provider. */
  readonly #sinks = new Map<ClosableSink, ClosableSink>();
  readonly #stopListening: () => void;
  readonly #metrics: MetricsPart | undefined;
  #closing: Promise<void> | undefined;

  /** @param metrics sent after the spans, so that they include the counts of those. */
  constructor(parts: TracingParts, metrics?: MetricsPart) {
    this.#parts = parts;
    this.#metrics = metrics;
    this.tracerProvider = parts.provider ?? new ProxyTracerProvider();
    this.registered = parts.registered;
    const stopWaiting = beforeProcessEnds(() => this.shutdown(), parts.ends);
    // Spans that still wait at `process.exit` are lost. This reports them.
    const atExit = () => parts.losses.total("exit");
    process.once("exit", atExit);
    this.#stopListening = () => {
      stopWaiting();
      process.removeListener("exit", atExit);
    };
  }

  /**
   * Creates a bridge on this provider. {@link Tracing.shutdown} closes it.
   *
   * @param options as for `new Bridge`. Different defaults: `onError` and `conventions` of the setup, its `meterProvider` (with
   *   `setupTelemetry`), and 0.4 of its `shutdownTimeoutMs`.
   * @throws TypeError, RangeError as the constructor of `Bridge`.
   *
   * @example
   * agent.addSink(tracing.createBridge({ audit: log }));
   */
  createBridge(options: Omit<BridgeOptions, "tracerProvider"> = {}): Bridge {
    checkArgument(options, "options");
    const rowsMs = Math.ceil(this.#parts.shutdownTimeoutMs * ROWS_SHARE);
    const bridge = new Bridge({
      ...options,
      tracerProvider: this.tracerProvider,
      meterProvider: options.meterProvider ?? this.#metrics?.meterProvider,
      conventions: options.conventions ?? this.#parts.conventions,
      onError: options.onError ?? this.#parts.onError,
      shutdownTimeoutMs: options.shutdownTimeoutMs ?? rowsMs,
    });
    return this.#take(bridge, internalsOf(bridge).own);
  }

  /**
   * Registers a sink that {@link Tracing.shutdown} closes while its last spans can still be sent.
   * After a shutdown, the sink is closed at once.
   *
   * @returns the sink.
   */
  own<T extends ClosableSink>(sink: T): T {
    return this.#take(sink, sink);
  }

  /**
   * Removes a sink, for example one that was closed before the process ends, so that it can be
   * garbage collected.
   */
  disown(sink: ClosableSink): void {
    this.#sinks.delete(sink);
  }

  /**
   * Resolves when all spans that ended so far were sent and all rows of the sinks were stored. With
   * `setupTelemetry`, metrics are sent after the spans. It takes at most `OTEL_BSP_EXPORT_TIMEOUT` (30 s) in
   * all.
   *
   * @throws AggregateError if some were not; its `errors` has each cause.
   */
  async forceFlush(): Promise<void> {
    const { flushMs, provider } = this.#parts;
    const begin = performance.now();
    const left = () => Math.max(flushMs - (performance.now() - begin), 0);
    const errors: unknown[] = [];
    const settled = async (work: Promise<unknown> | undefined) => {
      try {
        await work;
      } catch (error) {
        // The SDK rejects with a list of errors.
        for (const each of [error].flat()) errors.push(each);
      }
    };
    const sinks = [...this.#sinks.values()].map((sink) => settled(callFlush(sink)));
    let late = "sinks";
    if (await within(left(), Promise.all(sinks))) {
      // The metrics count the spans that were lost, so they go second.
      late = "spans or metrics";
      const timeoutMillis = Math.min(flushMs + PROVIDER_GRACE_MS, LONGEST_WAIT_MS);
      const spans = settled(provider?.forceFlush({ timeoutMillis }));
      await within(left() * (1 - METRICS_SHARE), spans);
      const all = Promise.all([spans, settled(this.#metrics?.forceFlush())]);
      // A moment later than the spans, whose own error says more.
      if (await within(left() + FLUSH_GRACE_MS, all)) late = "";
    }
    if (late !== "") {
      errors.push(new Error(`${late} were not flushed within ${flushMs} ms${this.#why()}`));
    }
    if (errors.length > 0) throw new AggregateError(errors, `flush failed: ${String(errors[0])}`);
  }

  /**
   * Ends tracing: closes the sinks, sends pending spans, and shuts down the provider. With
   * `setupTelemetry`, it then sends the last metrics. It takes at most `shutdownTimeoutMs` in all
   * and never rejects. Errors and the number of lost spans go to `onError`. A second call returns
   * the same promise. Afterwards, no request keeps the process alive.
   *
   * Called by itself when the process has nothing else to do (`beforeExit`), and with `handleSignals` and
   * `handleErrors`. `process.exit` does not wait for it.
   */
  shutdown(): Promise<void> {
    // Set first, since a sink can call `shutdown` while it is closed.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  /**
   * The open runs of all bridges of {@link Tracing.createBridge}, the longest-idle first.
   *
   * @throws TypeError, RangeError if an option is invalid; the message names it.
   *
   * @example
   * for (const run of telemetry.openRuns({ limit: 20 })) console.log(run.runId, run.waitsFor.kind);
   */
  openRuns(options: OpenRunsOptions = {}): readonly OpenRun[] {
    checkArgument(options, "options");
    const bridges = [...this.#sinks.keys()].filter((sink) => sink instanceof Bridge);
    return firstOpenRuns(
      bridges.flatMap((bridge) => bridge.openRuns(options)),
      options.limit,
    );
  }

  /** Counts of the spans by delivery state. Exact at any time, also after the shutdown. */
  diagnostics(): SpanCounts {
    return this.#parts.ledger.counts();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #take<T extends ClosableSink>(sink: T, ends: ClosableSink): T {
    if (this.#closing === undefined) this.#sinks.set(sink, ends);
    else void this.#closeSink(ends);
    return sink;
  }

  async #close(): Promise<void> {
    const { provider, losses, shutdownTimeoutMs: bound } = this.#parts;
    const begin = performance.now();
    reportStep({ step: "shutdown" });
    // The total includes all further losses.
    losses.quiet();
    const late: Error[] = [];
    const sinks = [...this.#sinks.values()].map((sink) => this.#closeSink(sink));
    this.#sinks.clear();
    const sinksMs = bound * SINKS_SHARE;
    if (!(await within(sinksMs, Promise.all(sinks)))) {
      late.push(new Error(`sinks were not closed, or their spans not sent, within ${sinksMs} ms`));
    }
    const left = () => Math.max(bound - (performance.now() - begin), 0);
    const reserved = this.#metrics === undefined ? 0 : bound * METRICS_SHARE;
    if (!(await within(Math.max(left() - reserved, 0), this.#closeProvider()))) {
      late.push(new Error(`the provider was not shut down within ${bound - reserved} ms`));
    }
    // If spans are still pending, they are the cause of the delay. The total reports them with the endpoint's
    // error.
    if (this.#parts.ledger.counts().pending === 0) for (const error of late) this.#report(error);
    // Counts unconfirmed spans as lost, and ends requests, so that none keeps the process alive.
    this.#parts.otlp?.giveUp();
    if (this.#metrics !== undefined && !(await within(left(), this.#metrics.shutdown()))) {
      this.#metrics.giveUp();
      this.#report(new Error(`the last metrics were not sent within ${bound} ms${this.#why()}`));
    }
    this.#stopListening();
    if (provider !== undefined) unregister(provider);
    losses.total("shutdown");
  }

  async #closeSink(sink: ClosableSink): Promise<void> {
    try {
      await sink.shutdown?.();
    } catch (error) {
      this.#report(error);
    }
  }

  async #closeProvider(): Promise<void> {
    const { provider, otlp } = this.#parts;
    // Separately, since the provider stops waiting for its processors when one of them fails.
    const sent = otlp?.shutdown();
    try {
      await provider?.shutdown();
    } catch (error) {
      this.#report(error);
    }
    await sent;
  }

  /** The last error of an export, for a message. */
  #why(): string {
    const { lastError } = this.#parts.ledger;
    return lastError === undefined ? "" : `; last error of an export: ${lastError}`;
  }

  #report(error: unknown): void {
    this.#parts.reporter.report(error, "shutdown");
  }
}
