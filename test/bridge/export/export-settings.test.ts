import { afterEach, describe, expect, it, vi } from "vitest";
import { exportSettings } from "../../../src/bridge/export/export-settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the settings of an export", () => {
  it("bound what waits in bytes, and its number nowhere", () => {
    expect(exportSettings()).toEqual({
      queueBytes: 67_108_864,
      maxQueueSize: Number.POSITIVE_INFINITY,
      requestBytes: 524_288,
      maxExportBatchSize: Number.POSITIVE_INFINITY,
      requests: 4,
      scheduledDelayMillis: 5_000,
      exportTimeoutMillis: 30_000,
      backoff: { firstMs: 1_000, mostMs: 5_000 },
    });
  });

  it("are those of OTEL_BSP_*, and own ones over them", () => {
    vi.stubEnv("OTEL_BSP_MAX_QUEUE_SIZE", "100");
    vi.stubEnv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "60");
    vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "7");
    vi.stubEnv("OTEL_BSP_EXPORT_TIMEOUT", "8");
    const named = { maxQueueSize: 100, maxExportBatchSize: 60, scheduledDelayMillis: 7 };
    expect(exportSettings()).toMatchObject({ ...named, exportTimeoutMillis: 8 });
    expect(exportSettings({ maxQueueSize: 50 })).toMatchObject({
      maxQueueSize: 50,
      maxExportBatchSize: 50,
    });
  });

  it("let a request fill before the queue is full", () => {
    expect(exportSettings({ queueBytes: 1_000 }).requestBytes).toBe(250);
    expect(exportSettings({ maxQueueSize: 100 }).maxExportBatchSize).toBe(25);
    expect(exportSettings({ maxQueueSize: 1 }).maxExportBatchSize).toBe(1);
  });

  it.each(["queueBytes", "requestBytes", "requests", "maxQueueSize"])(
    "refuse a %s of 0",
    (name) => {
      expect(() => exportSettings({ [name]: 0 })).toThrow(
        `${name}: expected a number from 1, got 0`,
      );
      expect(() => exportSettings({ [name]: Number.NaN })).toThrow(RangeError);
    },
  );
});
