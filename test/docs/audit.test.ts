import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { knownEventForm } from "../../src/audit/door.ts";
import {
  AuditSink,
  MemorySessionLog,
  NdjsonSessionLog,
  readRows,
  verifyLog,
} from "../../src/entries/audit.ts";
import { Bridge } from "../../src/index.ts";
import { PAYMENT, TENANT } from "../support/payment-run.ts";
import { collectSpans } from "../support/spans.ts";
import { codeBlocks, readPage, section, tableRows } from "./pages.ts";

const page = readPage("docs/audit.md");

describe("the runtime's own calls", () => {
  it("are all there", () => {
    // `bridge.audit` is what this class adds rows of events to.
    const calls: unknown = Object.getPrototypeOf(AuditSink.prototype);
    const methods = Object.getOwnPropertyNames(calls).filter((name) => name.startsWith("record"));
    const listed = tableRows(section(page, "What becomes a row"))
      .map(([source = ""]) => source)
      .filter((source) => source.startsWith("bridge."));
    expect(listed.toSorted()).toEqual(methods.map((name) => `bridge.audit.${name}`).toSorted());
  });
});

describe("the answers to an auditor", () => {
  const answers = section(page, "Answers to an auditor");

  it("are rows of one run, as the bridge writes them", async () => {
    const log = new MemorySessionLog();
    const { provider } = collectSpans();
    const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: provider });
    for (const [event, envelope] of PAYMENT) await bridge.send(event, envelope);
    await bridge.shutdown();
    const rows = await log.loadSince({ tenant_id: TENANT, thread_id: "th" }, 0);
    const [block] = codeBlocks(answers);
    const shown = block?.text.replace(/\n +/g, "").trimEnd().split("\n");
    expect(shown).toEqual(rows.map(({ event_text }) => event_text));
  });

  it("name kinds and fields that there are", () => {
    const [block] = codeBlocks(answers);
    for (const [, kind = "", fields = ""] of tableRows(answers)) {
      for (const field of fields.replaceAll("`", "").split(", ")) {
        const form = knownEventForm.variants.get(kind.replaceAll("`", ""));
        expect(form?.names, `${kind} ${field}`).toContain(field);
      }
    }
    expect(block).toBeDefined();
  });
});

describe("erasing a payload", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-test-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("works as the page has it, in a sealed segment and in the last one", async () => {
    const erase = await eraseOfPage();
    const key = { tenant_id: "acme", thread_id: "t" };
    const log = await NdjsonSessionLog.open(folder, { segmentBytes: 1024 });
    const hashes: string[] = [];
    for (let n = 0; n < 6; n++) {
      const input = { secret: `secret ${n}`, filler: "x".repeat(200) };
      const event = { kind: "tool_call", id: "", name: "n", input, timestamp: TIME } as const;
      hashes.push((await log.append(key, [{ event }])).hash);
    }
    await log.close();
    const segments = (await readdir(folder)).filter((name) => name.endsWith(".ndjson")).toSorted();
    expect(segments.length).toBeGreaterThan(1);
    await erase(join(folder, segments[0] ?? ""), hashes[0] ?? "");
    await erase(join(folder, segments.at(-1) ?? ""), hashes[5] ?? "");

    expect(await verifyLog(folder)).toMatchObject({ ok: true, rows: 6, erasedRows: 2 });
    const texts = [];
    for await (const { event_text } of readRows(folder)) texts.push(event_text);
    const erased = `{"erased":true,"kind":"tool_call","timestamp":"${TIME}"}`;
    expect([texts[0], texts[5]]).toEqual([erased, erased]);
    expect(texts.slice(1, 5).every((text, at) => text.includes(`secret ${at + 1}`))).toBe(true);
    await using again = await NdjsonSessionLog.open(folder);
    expect(again.recovery).toBeUndefined();
    expect(await again.loadSince(key, 0)).toHaveLength(6);
  });

  it("works for events of an application's own kinds, without a time and with long texts", async () => {
    const erase = await eraseOfPage();
    const key = { tenant_id: "acme", thread_id: "t" };
    const log = await NdjsonSessionLog.open(folder);
    const hashes: string[] = [];
    for (const event of [
      { kind: "moved", to: "secret" },
      { kind: "k".repeat(2000), timestamp: "secret".repeat(500) },
      { kind: "moved", timestamp: { seconds: 5 }, to: "secret" },
      { kind: "moved", timestamp: 1777464000, to: "secret" },
    ]) {
      hashes.push((await log.append(key, [{ event }])).hash);
    }
    await log.close();
    const segment = join(folder, "segment-00000001.ndjson");
    for (const hash of hashes) await erase(segment, hash);
    expect(await verifyLog(folder)).toMatchObject({ problems: [], rows: 4, erasedRows: 4 });
    const texts = [];
    for await (const { event_text } of readRows(folder)) texts.push(event_text);
    const left = (kind: string, timestamp = "") =>
      JSON.stringify({ erased: true, kind, timestamp });
    expect(texts).toEqual([
      left("moved"),
      left("k".repeat(64)),
      left("moved"),
      left("moved", "1777464000"),
    ]);
  });
});

const TIME = "2026-04-29T12:00:00Z";

async function eraseOfPage(): Promise<(segment: string, hash: string) => Promise<void>> {
  const [block] = codeBlocks(section(page, "Erasing a payload"));
  const { outputText } = ts.transpileModule(block?.text ?? "", {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  const module: unknown = await import(
    `data:text/javascript;base64,${Buffer.from(outputText).toString("base64")}`
  );
  if (typeof module !== "object" || module === null) throw new Error("no module");
  const erase: unknown = Reflect.get(module, "eraseEvent");
  if (typeof erase !== "function") throw new Error("the page has no eraseEvent");
  return (segment, hash) => Reflect.apply(erase, undefined, [segment, hash]);
}
