import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// Older versions of the framework tell less. The tests run with the newest and with the oldest that
// the docs name: what a version does not tell is expected to be missing there, not passed over.

const core = versionOf("@langchain/core");
const langgraph = versionOf("@langchain/langgraph");

/** The id that the model gave a tool call. */
export const tellsCallIds = atLeast(core, "1.1.28");
/** What each input of a sequence's batch came to. */
export const tellsBatchErrors = atLeast(core, "1.3.4");
/** That a graph pauses before or after a node. */
export const tellsStaticPauses = atLeast(langgraph, "1.4.18");
/** What stopped a call, and the calls that a signal stopped. */
export const tellsReasons = atLeast(langgraph, "1.0.0");
/** That the reader of a stream left. */
export const tellsEarlyLeave = atLeast(langgraph, "1.7.3");

function versionOf(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { version } = Object(JSON.parse(readFileSync(manifest, "utf8")));
  if (typeof version === "string") return version;
  throw new TypeError(`${manifest}: expected a version`);
}

function atLeast(version: string, least: string): boolean {
  return version.localeCompare(least, "en", { numeric: true }) >= 0;
}
