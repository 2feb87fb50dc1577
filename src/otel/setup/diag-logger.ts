import { DiagConsoleLogger, DiagLogLevel, diag } from "@opentelemetry/api";
import type { ErrorHook } from "../report.ts";
import { environmentText, warnOfVariable } from "./environment-variables.ts";
import { isRegistered } from "./global-registration.ts";

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
