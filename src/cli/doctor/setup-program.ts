import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { messageOf } from "../cli-error.ts";
import { checkProvider } from "./check-provider.ts";

/*
 * A program of its own: loads the file that it is called with, as the application would, looks at the providers
 * that the file registered, and writes what it found as one line of JSON to the descriptor 3. It does not end: its
 * parent ends it, and all that the file has begun.
 */

const [path = ""] = process.argv.slice(2);

// No await at the top: a file that waits for nothing would have Node warn of this program.
import(pathToFileURL(path).href)
  .then(() => tell({ findings: checkProvider(requireApi()) }))
  .catch((error: unknown) => tell({ error: messageOf(error) }));

/** The API as the file sees it. `undefined` where there is none. */
function requireApi(): unknown {
  try {
    const api: unknown = createRequire(path)("@opentelemetry/api");
    return api;
  } catch {
    return undefined;
  }
}

function tell(result: object): void {
  writeSync(3, `${JSON.stringify(result)}\n`);
}
