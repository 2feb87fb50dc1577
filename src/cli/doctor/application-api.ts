import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/** The application's own copy of the OpenTelemetry API, after its setup has run in this process. */
export interface ApplicationApi {
  /** The module, or `undefined` where the application has none. */
  readonly api: unknown;
}

/** What loading a file may take, in s: a setup that asks others for its secrets needs a few. */
export const LOADING_S = 30;

/** A file may be a whole program in place of its setup. */
const SETUP_ALONE = "Name the file that sets tracing up, and does nothing else.";

/**
 * Loads a file of the application, which sets its tracing up, and then the API as that file sees it.
 *
 * @param onEnded told when the file ends the process while it is loaded: nothing was looked at then,
 * and the exit code is 1.
 * @param limitS what loading may take.
 * @throws CliError when the file can't be loaded, or not within its time.
 */
export async function loadApplication(
  file: string,
  onEnded: (error: CliError) => void,
  limitS = LOADING_S,
): Promise<ApplicationApi> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CliError(`--import: ${safe(file)}: no such file`);
  // It may do its work and call process.exit, or wait for what never comes with nothing left to do.
  const ended = () => {
    process.exitCode = 1;
    onEnded(
      new CliError(
        `--import: ${safe(file)}: it ended the process before it was loaded`,
        SETUP_ALONE,
      ),
    );
  };
  process.once("exit", ended);
  const late = new AbortController();
  try {
    const loaded = import(pathToFileURL(path).href).then(() => true);
    // Not kept alive by this: a file with nothing left to do has ended the process.
    const waited = { signal: late.signal, ref: false };
    const over = sleep(1_000 * limitS, false, waited).catch(() => false);
    if (await Promise.race([loaded, over])) return { api: requireApi(path) };
  } catch (error) {
    throw new CliError(`--import: ${safe(file)}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
  } finally {
    late.abort();
    process.off("exit", ended);
  }
  const message = `--import: ${safe(file)}: it is not loaded after ${limitS} s`;
  throw new CliError(message, `It serves, or awaits what does not come. ${SETUP_ALONE}`);
}

function requireApi(path: string): unknown {
  try {
    const api: unknown = createRequire(path)("@opentelemetry/api");
    return api;
  } catch {
    return undefined;
  }
}
