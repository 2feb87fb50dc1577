import { processWide } from "../process-wide.ts";
import { callHook } from "../users-functions.ts";
import { constructorName, property } from "./thrown.ts";

const MINUTE_MS = 60_000;
const MAX_NAMES = 256;
const MAX_NAME_CHARS = 100;
/** The name for further classes, once {@link MAX_NAMES} have warned within a minute. */
const OVERFLOW = "(other)";

/** Called for a thrown value that cannot be classified, with its class but never its text. */
export type UnclassifiedWarning = (message: string, constructorName: string) => void;

interface WarningState {
  warn: UnclassifiedWarning;
  /** Class name to the time of its last warning, oldest first, in ms of the monotonic clock. */
  readonly warnedAt: Map<string, number>;
}

function isState(value: unknown): value is WarningState {
  return (
    typeof property(value, "warn") === "function" && property(value, "warnedAt") instanceof Map
  );
}

function sharedState(): WarningState {
  return processWide(
    "unclassified-warning",
    isState,
    (): WarningState => ({ warn: emitProcessWarning, warnedAt: new Map() }),
  );
}

/** The default: a Node process warning, which goes to stderr and to `process.on("warning")`. */
function emitProcessWarning(message: string): void {
  process.emitWarning(message, { type: "EntelixWarning", code: "ENTELIX_UNCLASSIFIED" });
}

/**
 * Sets the function that is called when an error cannot be classified, at most once a minute for each class of error.
 * It applies to the whole process. Errors that the function throws are ignored.
 *
 * @param warn default: `process.emitWarning`, with the code `ENTELIX_UNCLASSIFIED`.
 *
 * @example
 * setUnclassifiedWarning((message) => logger.warn(message));
 */
export function setUnclassifiedWarning(warn: UnclassifiedWarning = emitProcessWarning): void {
  sharedState().warn = warn;
}

/** Warns of a thrown value that matches no class, at most once a minute for each class. */
export function warnUnclassified(thrown: unknown): void {
  const state = sharedState();
  const now = performance.now();
  const name = constructorName(thrown).slice(0, MAX_NAME_CHARS);
  if (!takeTurn(state.warnedAt, name, now)) return;
  const message = `entelix-otel: a thrown ${name} matches no failure kind: unclassified`;
  callHook(() => state.warn(message, name));
}

function takeTurn(warnedAt: Map<string, number>, name: string, now: number): boolean {
  for (const [oldest, at] of warnedAt) {
    if (now - at < MINUTE_MS) break;
    warnedAt.delete(oldest);
  }
  const key = warnedAt.size < MAX_NAMES || warnedAt.has(name) ? name : OVERFLOW;
  if (warnedAt.has(key)) return false;
  warnedAt.set(key, now);
  return true;
}
