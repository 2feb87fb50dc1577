import {
  DiagConsoleLogger,
  type DiagLogFunction,
  type DiagLogger,
  DiagLogLevel,
  diag,
} from "@opentelemetry/api";
import { isRegistered } from "../global-registration.ts";
import type { ErrorHook } from "../report.ts";
import { withoutUsers } from "./shown-url.ts";

/** An environment variable, trimmed. `undefined` if it is unset or blank. */
export function environmentText(name: string): string | undefined {
  const text = process.env[name]?.trim();
  return text === "" ? undefined : text;
}

/**
 * Reads a whole number from an environment variable.
 *
 * @returns the default if the variable is unset or invalid. An invalid one is also reported as a warning.
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

/** Warns through the diagnostic logger that a variable is invalid, and which value is used. */
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

/** The console, without passwords in addresses, since the SDK prints an endpoint that it cannot use. */
function consoleLogger(): DiagLogger {
  const logger = new DiagConsoleLogger();
  const safe =
    (level: keyof DiagLogger): DiagLogFunction =>
    (...parts) => {
      for (const [at, part] of parts.entries()) {
        if (typeof part === "string") parts[at] = withoutUsers(part);
      }
      logger[level](...parts);
    };
  return {
    error: safe("error"),
    warn: safe("warn"),
    info: safe("info"),
    debug: safe("debug"),
    verbose: safe("verbose"),
  };
}

/** Sets OpenTelemetry's diagnostic logger to the console if `OTEL_LOG_LEVEL` is set and there is no logger. */
export function applyLogLevel(): void {
  const text = environmentText("OTEL_LOG_LEVEL");
  if (text === undefined || isRegistered("diag")) return;
  const level = LEVELS.get(text.toLowerCase());
  diag.setLogger(consoleLogger(), level ?? DiagLogLevel.INFO);
  if (level === undefined) {
    warnOfVariable("OTEL_LOG_LEVEL", text, `one of ${[...LEVELS.keys()].join(", ")}`, "info");
  }
}

/**
 * The default of `onError`: OpenTelemetry's diagnostic logger, or the console without one, so that a loss is
 * always reported.
 */
export const warnAloud: ErrorHook = (error, where) => {
  const logger = isRegistered("diag") ? diag : consoleLogger();
  logger.warn(`entelix-otel: ${where}: ${String(error)}`);
};

/**
 * Calls `read` with warnings on the console if there is no diagnostic logger. So an unsupported value such as
 * `OTEL_EXPORTER_OTLP_PROTOCOL=grpc` is always reported.
 *
 * @param read reads variables, synchronously. Messages after its return are not affected.
 */
export function variablesAloud<T>(read: () => T): T {
  if (environmentText("OTEL_LOG_LEVEL") !== undefined || isRegistered("diag")) return read();
  diag.setLogger(consoleLogger(), DiagLogLevel.WARN);
  try {
    return read();
  } finally {
    diag.disable();
  }
}
