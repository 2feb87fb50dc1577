import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/** The application's own copy of the OpenTelemetry API, after its setup has run in this process. */
export interface ApplicationApi {
  /** The module, or `undefined` where the application has none. */
  readonly api: unknown;
}

/**
 * Loads a file of the application, which sets its tracing up, and then the API as that file sees it.
 *
 * @param onEnded told when the file ends the process while it is loaded: nothing was looked at then,
 * and the exit code is 1.
 * @throws CliError when the file can't be loaded.
 */
export async function loadApplication(
  file: string,
  onEnded: (error: CliError) => void,
): Promise<ApplicationApi> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CliError(`--import: ${safe(file)}: no such file`);
  // A whole program in place of its setup may do its work and call process.exit, or wait for ever.
  const ended = () => {
    process.exitCode = 1;
    onEnded(
      new CliError(
        `--import: ${safe(file)}: it ended the process before it was loaded`,
        "Name the file that sets tracing up, and does nothing else.",
      ),
    );
  };
  process.once("exit", ended);
  try {
    await import(pathToFileURL(path).href);
  } catch (error) {
    throw new CliError(`--import: ${safe(file)}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
  } finally {
    process.off("exit", ended);
  }
  return { api: requireApi(path) };
}

function requireApi(path: string): unknown {
  try {
    const api: unknown = createRequire(path)("@opentelemetry/api");
    return api;
  } catch {
    return undefined;
  }
}
