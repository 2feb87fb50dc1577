import { closeSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { messageOf } from "../cli-error.ts";
import { checkProvider } from "./check-provider.ts";

/*
 * A separate program: loads the file of its argument as the application would, checks the providers that the file
 * registers, and writes the findings as JSON to file descriptor 3. It does not end by itself: its parent kills it.
 */

const [path = ""] = process.argv.slice(2);

// Without a top-level await, of which Node would warn where the file never resolves.
import(pathToFileURL(path).href)
  .then(() => report({ findings: checkProvider(requireApi()) }))
  .catch((error: unknown) => report({ error: messageOf(error) }));

/** The API as the file imports it; `undefined` without one. */
function requireApi(): unknown {
  try {
    const api: unknown = createRequire(path)("@opentelemetry/api");
    return api;
  } catch {
    return undefined;
  }
}

function report(result: object): void {
  writeSync(3, JSON.stringify(result));
  closeSync(3);
}
