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
 * @throws CliError when the file can't be loaded.
 */
export async function loadApplication(file: string): Promise<ApplicationApi> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CliError(`--import: ${safe(file)}: no such file`);
  try {
    await import(pathToFileURL(path).href);
  } catch (error) {
    throw new CliError(`--import: ${safe(file)}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
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
