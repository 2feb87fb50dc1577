import { context, diag, metrics, propagation, trace } from "@opentelemetry/api";
import { afterEach, beforeEach } from "vitest";

/**
 * Gives each test a process without `OTEL_*` variables and without anything registered in the
 * OpenTelemetry API, and puts the variables back afterwards.
 */
export function isolateProcess(): void {
  let before: NodeJS.ProcessEnv = {};
  beforeEach(() => {
    before = { ...process.env };
    forgetGlobals();
    for (const name of variables()) delete process.env[name];
  });
  afterEach(() => {
    for (const name of variables()) delete process.env[name];
    Object.assign(process.env, before);
    forgetGlobals();
  });
}

function variables(): string[] {
  return Object.keys(process.env).filter((name) => name.startsWith("OTEL_"));
}

function forgetGlobals(): void {
  trace.disable();
  metrics.disable();
  context.disable();
  propagation.disable();
  diag.disable();
}

/** A diagnostic logger that keeps its warnings and errors. */
export function keepDiag(): string[] {
  const lines: string[] = [];
  const keep = (message: string) => {
    lines.push(message);
  };
  const ignore = () => {};
  diag.setLogger({ error: keep, warn: keep, info: ignore, debug: ignore, verbose: ignore });
  return lines;
}
