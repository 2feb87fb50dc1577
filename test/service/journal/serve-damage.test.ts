import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nodeFileLayer } from "../../../src/audit/door.ts";
import { writeCheckpoint } from "../../../src/service/journal/checkpoint-file.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { waitFor } from "../../support/wait-for.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000003", tenant_id: "acme" };
const NAME = "lines-0000000000000000.v1.log";
/** Nothing listens there. */
const AWAY = "http://127.0.0.1:9";

function lines(count: number): string {
  const timestamp = "2026-11-20T10:00:00Z";
  const events = Array.from({ length: count }, (_, n) =>
    JSON.stringify({ event_id: `e${n}`, timestamp, type: "started", agent: "a", ...RUN }),
  );
  return `${events.join("\n")}\n`;
}

/** Runs `serve` on a journal until `work` is done, and kills it. */
async function serving(journal: string, work: (url: string) => Promise<void> = async () => {}) {
  let working: Promise<void> | undefined;
  const args = ["serve", "--journal", journal, "--listen", "127.0.0.1:0", "--endpoint", AWAY];
  const result = await command(args, {
    onStdout: (text, kill) => {
      const url = /Listening on (\S+)/.exec(text)?.[1];
      if (url !== undefined) working ??= work(url).finally(() => kill("SIGKILL"));
    },
  });
  await working;
  return result;
}

async function send(url: string): Promise<unknown> {
  const headers = { "Content-Type": "application/x-ndjson" };
  return (await fetch(`${url}/v1/events`, { method: "POST", headers, body: lines(120) })).json();
}

/** Sends 120 lines in one request, all acknowledged, and kills the service once `ready`. */
async function killed(journal: string, ready: () => void = () => {}): Promise<void> {
  const { signal } = await serving(journal, async (url) => {
    expect(await send(url)).toMatchObject({ accepted: 120, rejected: 0 });
    await waitFor(ready);
  });
  expect(signal).toBe("SIGKILL");
}

/** The same, and the journal is as if the kill had come within the second after. */
async function killedSoon(journal: string): Promise<void> {
  await killed(journal);
  await writeCheckpoint(nodeFileLayer, journal, { position: 0, stored: 0, end: 0 });
}

/** Flips one bit in a line of the journal. @returns what the line was, with its line feed. */
function flip(journal: string, number: number): Buffer {
  const path = join(journal, NAME);
  const bytes = readFileSync(path);
  let start = 0;
  for (let n = 1; n < number; n += 1) start = bytes.indexOf(0x0a, start) + 1;
  const at = start + 100;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  return bytes.subarray(start, bytes.indexOf(0x0a, start) + 1);
}

it("serve loses no line but a damaged one of its last write, and says which", async () => {
  using folder = new Folder();
  const journal = folder.at("journal");
  await killedSoon(journal);
  const damaged = flip(journal, 61);
  let metrics = "";
  let again: unknown;
  const start = await serving(journal, async (url) => {
    metrics = await (await fetch(`${url}/metrics`)).text();
    again = await send(url);
  });
  expect(start.signal).toBe("SIGKILL");
  const [copy = "", ...others] = readdirSync(join(journal, "torn"));
  expect(others).toEqual([]);
  expect(readFileSync(join(journal, "torn", copy))).toEqual(damaged);
  const size = damaged.length;
  expect(start.stderr).toContain(
    `${join(journal, NAME)}, line 61: expected the record of offset 60 or the end mark, ` +
      `found ${size} damaged bytes, copied to ${join(journal, "torn", copy)}; 1 line missing`,
  );
  expect(start.stdout).toContain(
    `(119 lines in the journal, 119 still needed, 1 damaged place, ${size} bytes set aside, 1 line missing)`,
  );
  expect(metrics).toContain("\nentelix_ingest_journal_torn_places_total 1\n");
  expect(metrics).toContain(`\nentelix_ingest_journal_torn_bytes_total ${size}\n`);
  expect(metrics).toContain("\nentelix_ingest_journal_missing_lines_total 1\n");
  // The sender that asks again gets the one line taken that was missing.
  expect(again).toMatchObject({ accepted: 1, duplicate: 119, rejected: 0 });
  const third = await serving(journal);
  expect(third.stderr).not.toContain("damaged");
  expect(third.stdout).toContain("(120 lines in the journal, 120 still needed)");
});

it("serve does not start on damage in what it has checked, though the endpoint is away", async () => {
  using folder = new Folder();
  const journal = folder.at("journal");
  await killed(journal, () => {
    expect(readFileSync(join(journal, "checkpoint"), "utf8")).toContain('"end":120}');
  });
  flip(journal, 61);
  const before = readFileSync(join(journal, NAME));
  const { code, stderr, stdout } = await serving(journal);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(
    `${join(journal, NAME)}, line 61: expected the record of offset 60, found bytes with another checksum`,
  );
  expect(stderr).toContain('docs/operations.md, "It does not start"');
  expect(readFileSync(join(journal, NAME))).toEqual(before);
});

it("serve says what it set aside also where it can't start then", async () => {
  using folder = new Folder();
  const journal = folder.at("journal");
  await killedSoon(journal);
  flip(journal, 61);
  await serving(folder.at("other"), async (url) => {
    const { host } = new URL(url);
    const { code, stderr } = await command(["serve", "--journal", journal, "--listen", host]);
    expect(code).toBe(1);
    expect(stderr).toContain("is in use");
    expect(stderr).toContain("line 61: expected the record of offset 60");
  });
});
