import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { CliError, type Io, messageOf, safe } from "../../cli/door.ts";
import type { PageFiles } from "../page-html.ts";
import type { ViewedRuns } from "../runs/viewed-runs.ts";
import { ViewServer } from "../server/view-server.ts";
import { aborted, allRead, leftOutLines } from "./opened-runs.ts";

interface ServeViewOptions {
  readonly page: PageFiles;
  /** 0: any free port. */
  readonly port: number;
  /** Key of the run that is shown first. Default: the list. */
  readonly key?: string | undefined;
  /** Whether to open the page in the user's browser. */
  readonly open: boolean;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/**
 * Serves the page of these runs until the signal is aborted.
 *
 * @throws (rejects) CliError when the port can't be listened on.
 */
export async function serveView(
  runs: ViewedRuns,
  { key, open, page, port, signal }: ServeViewOptions,
  { err, out }: Io,
): Promise<void> {
  const say = (error: unknown) => err.line(safe(messageOf(error)));
  const server = await ViewServer.listen({ runs, page, port, onError: say }).catch(
    (error: unknown) => {
      const reason = isInUse(error) ? `${port} is in use` : safe(messageOf(error));
      throw new CliError(`--port: ${reason}`, undefined, { cause: error });
    },
  );
  try {
    // Browsers keep the part after # when they are redirected to the page.
    const url = key === undefined ? server.url : `${server.url}#/run/${encodeURIComponent(key)}`;
    out.line(`Open in a browser: ${out.style("cyan", url)}`);
    out.line("The address works once. Ctrl-C ends the command.");
    for (const { kind, name } of runs.list([]).sources) {
      if (kind !== "otlp") continue;
      out.line(`Takes spans at ${safe(name)} (OTLP over HTTP). Metrics and logs are not kept.`);
    }
    if (open) {
      openBrowser(url, () => err.line("No browser could be opened: open the address yourself."));
    }
    const reportLeftOut = async () => {
      if (!(await allRead(runs, signal))) return;
      for (const line of leftOutLines(runs)) err.line(line);
    };
    // `keepVerified` reports errors of the sources.
    reportLeftOut().catch(() => {});
    keepVerified(runs, signal).catch(say);
    await aborted(signal);
  } finally {
    await server.close();
  }
}

/** Shortest time between two verifications, in ms. */
const VERIFY_MS = 30_000;
/** The pause after a verification is at least this many times as long as the verification. */
const VERIFY_SHARE = 10;

/** Verifies the logs again after changes, in at most a tenth of the time. */
async function keepVerified(runs: ViewedRuns, signal: AbortSignal): Promise<void> {
  await allRead(runs, signal);
  let waitMs = VERIFY_MS;
  let seen = runs.list([]).revision;
  while (!signal.aborted) {
    await sleep(waitMs, undefined, { signal }).catch(() => {});
    if (signal.aborted || runs.list([]).revision === seen) continue;
    const begun = performance.now();
    await runs.verify();
    waitMs = Math.max(VERIFY_MS, (performance.now() - begun) * VERIFY_SHARE);
    seen = runs.list([]).revision;
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

/**
 * Opens an address in the user's browser.
 *
 * @param onFailure called where that did not work: on a machine without a screen, say. It does not throw.
 */
function openBrowser(url: string, onFailure: () => void): void {
  const [program, args] = opener();
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  child.once("error", onFailure);
  child.once("exit", (code) => {
    if (code !== 0) onFailure();
  });
  // The browser may be a child of the opener, and outlives this command.
  child.unref();
}

function opener(): readonly [program: string, args: readonly string[]] {
  switch (process.platform) {
    case "darwin":
      return ["open", []];
    case "win32":
      // The same as `start`, but without a shell that would interpret the address.
      return ["rundll32", ["url.dll,FileProtocolHandler"]];
    default:
      return ["xdg-open", []];
  }
}
