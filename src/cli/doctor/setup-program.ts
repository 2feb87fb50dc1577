import { closeSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type SetupStep, watchSetups } from "../../bridge/door.ts";
import { messageOf } from "../cli-error.ts";
import { checkProvider } from "./check-provider.ts";
import { type Finding, note } from "./finding.ts";

/*
 * A separate program: loads the file of its argument as the application would, checks the providers that the file
 * registers, and writes the findings and its endpoint as JSON to file descriptor 3. It does not end by itself: its
 * parent kills it.
 */

const [path = ""] = process.argv.slice(2);

/** The last setup of this package in the file. */
let setup: Extract<SetupStep, { step: "setup" }> | undefined;
/** The findings of a setup that the file has shut down: its provider is then no longer registered. */
let before: readonly Finding[] | undefined;

watchSetups((step) => {
  if (step.step === "setup") {
    setup = step;
    before = undefined;
  } else before = [SHUT_DOWN, ...checkProvider(requireApi())];
});

const SHUT_DOWN = note(
  "FILE has ended its setup: it is a whole program, which ran. The setup was checked before its shutdown",
  "To check without running the program, import a file that only sets up tracing.",
);

// Without a top-level await, of which Node would warn where the file never resolves.
import(pathToFileURL(path).href)
  .then(() => {
    const findings = before ?? checkProvider(requireApi());
    report({
      findings,
      isOurs: setup !== undefined,
      endpoint: setup?.endpoint,
      headers: setup?.headers,
    });
  })
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
