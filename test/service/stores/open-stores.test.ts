import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { OtlpSpanStore } from "../../../src/bridge/door.ts";
import { NdjsonSessionLog } from "../../../src/entries/audit.ts";
import { openStores } from "../../../src/service/open-stores.ts";
import { deadUrl } from "../../support/otlp-server.ts";

const onError = () => {};

describe("openStores", () => {
  it("opens the log in a directory, and gives it back when it is closed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "stores-"));
    const stores = await openStores({ endpoint: "http://127.0.0.1:1", audit: folder, onError });
    expect(stores.spans).toBeInstanceOf(OtlpSpanStore);
    expect(stores.audit).toBeInstanceOf(NdjsonSessionLog);
    await expect(openStores({ endpoint: undefined, audit: folder, onError })).rejects.toThrow(
      "has it open",
    );
    await stores.close();
    await (await openStores({ endpoint: undefined, audit: folder, onError })).close();
    await rm(folder, { recursive: true });
  });

  it("says of a log that it could not be closed, and ends all the same", async () => {
    const folder = await mkdtemp(join(tmpdir(), "stores-"));
    const told: unknown[] = [];
    const stores = await openStores({
      endpoint: undefined,
      audit: folder,
      onError: (error, where) => told.push([error, where]),
    });
    const failure = new Error("disk full");
    const close = vi.spyOn(NdjsonSessionLog.prototype, "close").mockRejectedValueOnce(failure);
    try {
      await stores.close();
      expect(told).toEqual([[failure, "audit log"]]);
    } finally {
      close.mockRestore();
      if (stores.audit instanceof NdjsonSessionLog) await stores.audit.close();
      await rm(folder, { recursive: true });
    }
  });

  it("without an endpoint spans go nowhere, without a log there are no rows", async () => {
    const stores = await openStores({ endpoint: undefined, audit: undefined, onError });
    expect(await stores.spans.store([])).toEqual({ refused: 0 });
    expect(stores.audit).toBeUndefined();
    await stores.close();
  });

  it("takes a database for one, and says that it does not answer", async () => {
    const { port } = new URL(await deadUrl());
    const audit = `postgres://nobody@127.0.0.1:${port}/none`;
    const elsewhere = "mysql://u:secret@127.0.0.1/agents";
    await expect(openStores({ endpoint: undefined, audit: elsewhere, onError })).rejects.toThrow(
      "expected a directory or postgres://…, got mysql://…",
    );
    expect(existsSync("mysql:")).toBe(false);
    await expect(openStores({ endpoint: undefined, audit, onError })).rejects.toThrow(
      /ECONNREFUSED|connect/,
    );
  });

  it("makes no log in the folder it runs in for an empty place", async () => {
    await expect(openStores({ endpoint: undefined, audit: "", onError })).rejects.toThrow(
      "expected a directory or postgres://…, got nothing",
    );
    expect(existsSync("segment-00000001.ndjson")).toBe(false);
  });

  it("refuses an endpoint that is no URL before it opens anything", async () => {
    const folder = join(tmpdir(), `never-made-${process.pid}`);
    const opening = openStores({ endpoint: "collector:4318", audit: folder, onError });
    await expect(opening).rejects.toThrow("expected an http or https URL");
    await expect(rm(folder)).rejects.toThrow("ENOENT");
  });
});
