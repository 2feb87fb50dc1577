import { DiagConsoleLogger, DiagLogLevel, diag } from "@opentelemetry/api";
import type { ErrorHook } from "../report.ts";
import { isRegistered } from "./global-registration.ts";

/** A variable of the environment without blanks around it; `undefined` when unset or blank. */
export function environmentText(name: string): string | undefined {
  const text = process.env[name]?.trim();
  return text === "" ? undefined : text;
}

/**
 * A whole number of the environment.
 *
 * @returns the default when the variable is unset, and, with a warning, when it is out of range.
 */
export function environmentNumber(
  name: string,
  range: { readonly from: number; readonly to: number; readonly byDefault: number },
): number {
  const text = environmentText(name);
  if (text === undefined) return range.byDefault;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= range.from && value <= range.to) return value;
  const expected = `a whole number from ${range.from} to ${range.to}`;
  const taken = range.byDefault === Number.POSITIVE_INFINITY ? "no limit" : String(range.byDefault);
  warnOfVariable(name, text, expected, taken);
  return range.byDefault;
}

/** Says through the diagnostic logger that a variable can't be used, and what is taken instead. */
export function warnOfVariable(name: string, got: string, expected: string, taken: string): void {
  diag.warn(`entelix-otel: ${name}: expected ${expected}, got "${got}"; using ${taken}`);
}

const LEVELS: ReadonlyMap<string, DiagLogLevel> = new Map([
  ["none", DiagLogLevel.NONE],
  ["error", DiagLogLevel.ERROR],
  ["warn", DiagLogLevel.WARN],
  ["info", DiagLogLevel.INFO],
  ["debug", DiagLogLevel.DEBUG],
  ["verbose", DiagLogLevel.VERBOSE],
  ["all", DiagLogLevel.ALL],
]);

/** Lets OpenTelemetry speak on the console as `OTEL_LOG_LEVEL` says, unless it has a logger. */
export function applyLogLevel(): void {
  const text = environmentText("OTEL_LOG_LEVEL");
  if (text === undefined || isRegistered("diag")) return;
  const level = LEVELS.get(text.toLowerCase());
  diag.setLogger(new DiagConsoleLogger(), level ?? DiagLogLevel.INFO);
  if (level === undefined) {
    warnOfVariable("OTEL_LOG_LEVEL", text, `one of ${[...LEVELS.keys()].join(", ")}`, "info");
  }
}

/**
 * Reports errors where the application gave no `onError`: through OpenTelemetry's diagnostic
 * logger, and on the console where none is set, since a loss must not pass in silence.
 */
export const warnAloud: ErrorHook = (error, where) => {
  const logger = isRegistered("diag") ? diag : new DiagConsoleLogger();
  logger.warn(`entelix-otel: ${where}: ${String(error)}`);
};

/**
 * Does what reads variables, so that what is wrong with one is told on the console where nobody has a
 * logger: `OTEL_EXPORTER_OTLP_PROTOCOL=grpc` must not be replaced in silence.
 *
 * @param read is over when it returns: later messages go where they always went.
 */
export function variablesAloud<T>(read: () => T): T {
  if (environmentText("OTEL_LOG_LEVEL") !== undefined || isRegistered("diag")) return read();
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);
  try {
    return read();
  } finally {
    diag.disable();
  }
}
