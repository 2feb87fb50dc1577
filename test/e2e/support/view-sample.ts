import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type LineSpan, readSpans } from "../../cli/support/otlp-lines.ts";
import { ALL_RECORDINGS, asViewed } from "../../view/support/view-documents.ts";
import { MAIN } from "./view-process.ts";

/** A row as `audit show --json` prints it. */
export interface ShownRow {
  readonly run_id: string | null;
  readonly span_id: string | null;
  readonly hash: string;
  readonly event: { readonly kind: string };
}

/** What `replay` and `audit show` say of recordings: what the page must say, too. */
export interface ViewSample {
  readonly folder: string;
  /** The audit log, and the spans with content. */
  readonly places: readonly string[];
  readonly spans: readonly ReturnType<typeof asViewed>[];
  readonly rows: readonly ShownRow[];
  remove(): Promise<void>;
}

/** Runs the built command. @throws (rejects) when it fails. */
export async function cli(...args: readonly string[]): Promise<string> {
  const options = { maxBuffer: 256 * 1024 * 1024 };
  return (await promisify(execFile)(process.execPath, [MAIN, ...args], options)).stdout;
}

/** @param files Default: every recording of the package. */
export async function viewSample(files: readonly string[] = ALL_RECORDINGS): Promise<ViewSample> {
  const folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-sample-"));
  const [spanFile, audit] = [join(folder, "spans.ndjson"), join(folder, "audit")];
  await cli("replay", ...files, "--capture-content", "--out", spanFile, "--audit", audit);
  const shown = await cli("audit", "show", audit, "--json");
  const lines: readonly LineSpan[] = readSpans(spanFile);
  return {
    folder,
    places: [audit, spanFile],
    spans: lines.map(asViewed),
    rows: shown
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
