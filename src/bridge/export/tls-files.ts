import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { diag } from "@opentelemetry/api";
import { notice } from "../../events/door.ts";
import { environmentText } from "../setup/environment-variables.ts";
import type { SignalName } from "../setup/exporter-choice.ts";

/** Options of a TLS connection, with the content of PEM files. */
export interface TlsOptions {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Name of the option, and of its variable after `OTEL_EXPORTER_OTLP_[signal_]`. */
const VARIABLES = [
  ["ca", "CERTIFICATE"],
  ["cert", "CLIENT_CERTIFICATE"],
  ["key", "CLIENT_KEY"],
] as const;

/**
 * The certificate files that the environment names. They are read again when they change, so that a process that
 * runs longer than its certificates keeps its access.
 */
export class TlsFiles {
  readonly #files: readonly (readonly [option: keyof TlsOptions, path: string, variable: string])[];
  /** Identity of the files that were read last. */
  #version: string | undefined;
  #options: TlsOptions = {};
  /** Requests at the same time share a look at the files: none is sent without them. */
  #reading: Promise<TlsOptions> | undefined;

  constructor(signal: SignalName) {
    this.#files = VARIABLES.flatMap(([option, name]) => {
      const variables = [`OTEL_EXPORTER_OTLP_${signal}_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
      const variable = variables.find((each) => environmentText(each) !== undefined);
      if (variable === undefined) return [];
      return [[option, resolve(environmentText(variable) ?? ""), variable] as const];
    });
  }

  /**
   * The current content. While the files do not fit, for example a new certificate whose key is not written yet, it
   * is the content before.
   */
  async current(): Promise<TlsOptions> {
    if (this.#files.length === 0) return this.#options;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<TlsOptions> {
    const version = (await Promise.all(this.#files.map(([, path]) => versionOf(path)))).join();
    if (version === this.#version) return this.#options;
    const isFirst = this.#version === undefined;
    this.#version = version;
    const before = this.#options;
    const contents = this.#files.map(async ([option, path, variable]) => {
      const content = await readFile(path).catch(() => before[option]);
      if (isFirst && content?.includes("-----BEGIN") !== true) reportNoPem(variable, path);
      return content === undefined ? [] : [[option, content] as const];
    });
    const options: TlsOptions = Object.fromEntries((await Promise.all(contents)).flat());
    try {
      createSecureContext(options);
      this.#options = options;
    } catch (error) {
      // At the start, there is nothing else to use. The request fails with the same error.
      if (isFirst) this.#options = options;
      else diag.warn(`entelix-otel: certificate files: ${String(error)}; using the ones before`);
    }
    return this.#options;
  }
}

/** Once for each file: spans and metrics read the same ones. Node takes a text without certificates, and none of it. */
function reportNoPem(variable: string, path: string): void {
  notice("ENTELIX_ERROR", `${variable}: expected a PEM file, got none: ${path}`, "export");
}

/** Changes with the file, also if another file takes its place. */
async function versionOf(path: string): Promise<string> {
  const { ino, mtimeMs, size } = await stat(path).catch(() => ({ ino: 0, mtimeMs: 0, size: 0 }));
  return `${ino} ${mtimeMs} ${size}`;
}
