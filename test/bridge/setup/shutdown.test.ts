import { setTimeout } from "node:timers/promises";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it, vi } from "vitest";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { runTimers, shutDownAfter, stopTimers, untilSeen } from "../../support/stopped-timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { isolateProcess } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { openRun, sendRun } from "./sample-run.ts";

isolateProcess();

const OTHER_RUN = "018f3c7a-0000-7000-8000-00000000002b";

const never = () => new Promise<void>(() => {});

/** A processor that does nothing but what it is given. */
function processor(own: Partial<SpanProcessor>): SpanProcessor {
  const ready = async () => {};
  return { onStart: () => {}, onEnd: () => {}, forceFlush: ready, shutdown: ready, ...own };
}

describe("shutdown", () => {
  it("closes the sinks first, so that the spans of open runs are sent", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const order: string[] = [];
    const tracing = setupTracing({
      endpoint: server.url,
      onError: reports.onError,
      spanProcessors: [processor({ shutdown: async () => void order.push("provider") })],
    });
    openRun(tracing.createBridge());
    tracing.own({
      shutdown: async () => {
        await setTimeout(5);
        tracing.tracerProvider.getTracer("app").startSpan("last words").end();
        order.push("sink");
      },
    });
    await tracing.shutdown();
    expect(order).toEqual(["sink", "provider"]);
    const outcome = server.span("invoke_agent support").attributes["entelix.run.outcome"];
    expect(outcome).toBe("abandoned");
    expect(server.span("last words").scope).toBe("app");
    expect(reports.all).toEqual([]);
    expect(tracing.diagnostics()).toMatchObject({ ended: 2, exported: 2 });
  });

  it("is one for all who ask", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    let closed = 0;
    tracing.own({ shutdown: async () => void closed++ });
    sendRun(tracing.createBridge());
    const first = tracing.shutdown();
    expect(tracing.shutdown()).toBe(first);
    await Promise.all([first, tracing[Symbol.asyncDispose]()]);
    await tracing.shutdown();
    expect([closed, server.requests.length]).toEqual([1, 1]);
  });

  it("is the same one for a sink that asks for it while it is closed", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const tracing = setupTracing({ endpoint: server.url, onError: reports.onError });
    const asked: Promise<void>[] = [];
    tracing.own({
      shutdown: async () => {
        asked.push(tracing.shutdown());
      },
    });
    openRun(tracing.createBridge());
    const first = tracing.shutdown();
    await first;
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBe(first);
    expect(server.span("invoke_agent support").name).toBe("invoke_agent support");
    expect(reports.all).toEqual([]);
  });

  it("closes no sink that was taken back, and closes at once one that comes too late", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    const closed: string[] = [];
    const sink = (name: string) => ({ shutdown: async () => void closed.push(name) });
    const gone = tracing.own(sink("gone"));
    tracing.own(sink("kept"));
    tracing.disown(gone);
    await tracing.shutdown();
    expect(closed).toEqual(["kept"]);
    tracing.own(sink("late"));
    expect(closed).toEqual(["kept", "late"]);
  });

  it("goes on past sinks and processors that throw or reject, and says so", async () => {
    await using server = await OtlpServer.start({ before: () => setTimeout(30) });
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: server.url,
      onError: reports.onError,
      spanProcessors: [processor({ shutdown: () => Promise.reject(new Error("processor")) })],
    });
    tracing.own({
      shutdown: () => {
        throw new Error("thrown");
      },
    });
    tracing.own({ shutdown: () => Promise.reject(new Error("rejected")) });
    // Not by a sink: that would have flushed it before the provider's turn.
    tracing.tracerProvider.getTracer("app").startSpan("a").end();
    await tracing.shutdown();
    // The failed processor must not cut short what is on its way.
    expect(tracing.diagnostics()).toMatchObject({ ended: 1, exported: 1, pending: 0 });
    expect(reports.all.map(({ error, where }) => `${where}: ${String(error)}`)).toEqual([
      "shutdown: Error: thrown",
      "shutdown: Error: rejected",
      "shutdown: Error: processor",
    ]);
  });

  it("contains an onError that throws or rejects", async () => {
    for (const onError of [
      () => {
        throw new Error("hook");
      },
      () => Promise.reject(new Error("hook")),
    ]) {
      await using server = await OtlpServer.start({ answer: () => 500 });
      const tracing = setupTracing({ endpoint: server.url, onError });
      sendRun(tracing.createBridge());
      await expect(tracing.shutdown()).resolves.toBeUndefined();
      expect(tracing.diagnostics().failed).toBe(2);
    }
  });

  it("keeps its bound when the endpoint is down, and reports the loss", async () => {
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "200";
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: await deadUrl(),
      shutdownTimeoutMs: 200,
      onError: reports.onError,
    });
    sendRun(tracing.createBridge());
    await shutDownAfter("ECONNREFUSED", tracing);
    expect(tracing.diagnostics()).toMatchObject({
      ended: 2,
      failed: 2,
      pending: 0,
      lost: { unreachable: 2 },
    });
    const [report, another] = reports.losses("shutdown");
    expect(report?.message).toMatch(
      /^2 spans lost \(unreachable 2\) of 2 that ended; last error of an export: .*ECONNREFUSED/,
    );
    expect(another).toBeUndefined();
  });

  it("keeps its bound when the endpoint never answers, and reports what is unconfirmed", async () => {
    await using server = await OtlpServer.start({ answer: () => "hang" });
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: server.url,
      shutdownTimeoutMs: 200,
      onError: reports.onError,
    });
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    expect(tracing.diagnostics()).toMatchObject({ failed: 2, pending: 0, lost: { timeout: 2 } });
    expect(reports.losses("shutdown").map(({ message }) => message)).toEqual([
      "2 spans lost (timeout 2) of 2 that ended; last error of an export: the export timed out",
    ]);
  });

  it("with http/json ends the requests, too", async () => {
    await using silent = await OtlpServer.start({ answer: () => "hang" });
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = "http/json";
    for (const endpoint of [await deadUrl(), silent.url]) {
      const reports = keepReports();
      const options = { endpoint, shutdownTimeoutMs: 200, onError: reports.onError };
      const tracing = setupTracing(options);
      sendRun(tracing.createBridge());
      await tracing.shutdown();
      expect(tracing.diagnostics()).toMatchObject({ ended: 2, failed: 2, pending: 0 });
      expect(reports.losses("shutdown").map(({ lost }) => lost)).toEqual([2]);
    }
  });

  it("counts a span that ends while the provider is shut down", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const late = processor({
      shutdown: async () => {
        tracing.tracerProvider.getTracer("app").startSpan("late").end();
      },
    });
    const tracing = setupTracing({
      endpoint: server.url,
      onError: reports.onError,
      spanProcessors: [late],
    });
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    expect(tracing.diagnostics()).toMatchObject({
      ended: 3,
      exported: 2,
      dropped: 1,
      lost: { after_shutdown: 1 },
    });
    expect(reports.losses("shutdown").map(({ message }) => message)).toEqual([
      "1 spans lost (after_shutdown 1) of 3 that ended",
    ]);
  });

  it("says once what an absent collector cost, and why", async () => {
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "200";
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: await deadUrl(),
      shutdownTimeoutMs: 300,
      onError: reports.onError,
    });
    for (const name of ["one", "two"]) {
      tracing.tracerProvider.getTracer("app").startSpan(name).end();
    }
    // As a bridge does, which tells of its own flush.
    tracing.own({ shutdown: () => tracing.forceFlush().catch(() => {}) });
    await shutDownAfter("ECONNREFUSED", tracing);
    await setTimeout(20);
    expect(reports.all.map(({ error, where }) => `${where}: ${String(error)}`)).toEqual([
      expect.stringMatching(
        /^shutdown: SpanLossError: 2 spans lost \(unreachable 2\) of 2 that ended; .*ECONNREFUSED/,
      ),
    ]);
  });

  it("says once what it cost a bridge and a sink that were made through it", async () => {
    await using failing = await OtlpServer.start({ answer: () => 500 });
    await using silent = await OtlpServer.start({ answer: () => "hang" });
    for (const endpoint of [await deadUrl(), failing.url, silent.url]) {
      const reports = keepReports();
      const options = { shutdownTimeoutMs: 300, onError: reports.onError };
      const tracing = setupTracing({ ...options, endpoint });
      sendRun(tracing.createBridge());
      openRun(tracing.createBridge({ audit: new MemorySessionLog() }), OTHER_RUN);
      await tracing.shutdown();
      await setTimeout(20);
      expect(reports.all.map(({ error, where }) => `${where}: ${String(error)}`)).toEqual([
        expect.stringMatching(/^shutdown: SpanLossError: 3 spans lost/),
      ]);
    }
  });

  it("tells of no sink that was late where the endpoint is slow and takes all in time", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await using server = await OtlpServer.start({ before: () => answered });
    const reports = keepReports();
    const options = { shutdownTimeoutMs: 3_000, onError: reports.onError };
    const tracing = setupTracing({ ...options, endpoint: server.url });
    sendRun(tracing.createBridge());
    openRun(tracing.createBridge(), OTHER_RUN);
    stopTimers();
    const closed = tracing.shutdown();
    // Past the limit of the sinks, half of the whole.
    await vi.advanceTimersByTimeAsync(1_600);
    answer();
    await closed;
    expect(tracing.diagnostics()).toMatchObject({ ended: 3, exported: 3 });
    expect(reports.all).toEqual([]);
  });

  it("leaves time to send when a sink hangs", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: server.url,
      shutdownTimeoutMs: 1_000,
      onError: reports.onError,
    });
    tracing.own({ shutdown: never });
    openRun(tracing.createBridge());
    stopTimers();
    const closed = tracing.shutdown();
    // The sinks' half of the limit.
    await vi.advanceTimersByTimeAsync(500);
    await closed;
    expect(server.span("invoke_agent support").name).toBe("invoke_agent support");
    expect(reports.all.map(({ error }) => String(error))).toEqual([
      "Error: sinks were not closed, or their spans not sent, within 500 ms",
    ]);
  });

  it("does not wait for ever for a processor of the caller's", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: server.url,
      shutdownTimeoutMs: 500,
      onError: reports.onError,
      spanProcessors: [processor({ shutdown: never })],
    });
    sendRun(tracing.createBridge());
    stopTimers();
    const closed = tracing.shutdown();
    await untilSeen(() => tracing.diagnostics().exported === 2);
    await runTimers(closed);
    expect(server.spans).toHaveLength(2);
    expect(reports.all.map(({ error }) => String(error))).toEqual([
      "Error: the provider was not shut down within 500 ms",
    ]);
  });

  it("takes its listeners from the process away", async () => {
    process.env.OTEL_TRACES_EXPORTER = "none";
    const events = ["exit", "beforeExit", "SIGTERM", "SIGINT", "uncaughtException"];
    const count = () => events.map((event) => process.listenerCount(event));
    const before = count();
    const more = () => count().map((listeners, at) => listeners - (before[at] ?? 0));
    const quiet = setupTracing({ register: false });
    expect(more()).toEqual([1, 1, 0, 0, 0]);
    const ends = { handleSignals: true, handleErrors: true };
    const tracing = setupTracing({ register: false, ...ends });
    expect(more()).toEqual([2, 2, 1, 1, 1]);
    await Promise.all([quiet.shutdown(), tracing.shutdown()]);
    expect(count()).toEqual(before);
  });
});

describe("forceFlush", () => {
  it("flushes the sinks before the provider", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    tracing.own({
      forceFlush: async () => {
        tracing.tracerProvider.getTracer("app").startSpan("held back").end();
      },
    });
    await tracing.forceFlush();
    expect(server.span("held back").scope).toBe("app");
    await tracing.shutdown();
  });

  it("asks the provider once, however many sinks were made through it", async () => {
    await using server = await OtlpServer.start();
    let asked = 0;
    const tracing = setupTracing({
      endpoint: server.url,
      spanProcessors: [processor({ forceFlush: async () => void asked++ })],
    });
    sendRun(tracing.createBridge());
    sendRun(tracing.createBridge(), OTHER_RUN);
    await tracing.forceFlush();
    expect([asked, server.spans.length]).toEqual([1, 4]);
    await tracing.shutdown();
  });

  it("has its limit for sinks, too", async () => {
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "2000";
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url, onError: () => {} });
    const hanging = tracing.own({ forceFlush: never });
    stopTimers();
    const flushed = tracing.forceFlush().catch(String);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await flushed).toBe(
      "AggregateError: flush failed: Error: sinks were not flushed within 2000 ms",
    );
    tracing.disown(hanging);
    await runTimers(tracing.shutdown());
  });

  it("says why spans were not confirmed in time", async () => {
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "100";
    const tracing = setupTracing({ endpoint: await deadUrl(), onError: () => {} });
    sendRun(tracing.createBridge());
    const says =
      /^flush failed: Error: spans were not confirmed within 100 ms; last error of an export: .*ECONNREFUSED/;
    // A flush of a busy machine may end before the first attempt has failed.
    await waitFor(() => expect(tracing.forceFlush()).rejects.toThrow(says));
    await tracing.shutdown();
  });

  it("rejects with every cause", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({
      endpoint: server.url,
      spanProcessors: [processor({ forceFlush: () => Promise.reject(new Error("theirs")) })],
    });
    tracing.own({ forceFlush: () => Promise.reject(new Error("sink")) });
    const failure: unknown = await tracing.forceFlush().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AggregateError);
    expect(failure).toMatchObject({
      message: "flush failed: Error: sink",
      errors: [new Error("sink"), new Error("theirs")],
    });
    await tracing.shutdown();
  });
});
