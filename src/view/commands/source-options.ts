import { CliError, DEFAULT_JAEGER } from "../../cli/door.ts";
import { DIALECT_NAMES } from "../../replay/door.ts";
import type { SourcesOptions } from "../runs/viewed-runs.ts";
import { PRICES_OPTIONS } from "./cost-estimates.ts";

/** For the help: the sources. */
export const SOURCES_NOTE =
  "FILE is a recording (events as NDJSON, also gzip) or spans as OTLP/JSON lines (view --save, replay --out). DIR is an audit log, or a folder of such files. postgres://USER@HOST/DATABASE is an audit log in PostgreSQL, with ?schema=NAME if the schema is not entelix. The password comes from PGPASSWORD or ~/.pgpass.";

/** Options about sources, for the commands that show runs. */
export const SOURCE_OPTIONS = {
  run: { type: "string", value: "ID", about: "Only the run with this run ID." },
  jaeger: {
    type: "string",
    value: "URL",
    about: `URL of Jaeger, such as ${DEFAULT_JAEGER}: a source of runs, and where their traces are linked to.`,
  },
  dialect: {
    type: "string",
    value: "NAME",
    about: `Dialect of the recordings: ${DIALECT_NAMES.join(", ")}. Default: auto, which detects it from the first lines of each source.`,
  },
  tenant: {
    type: "string",
    value: "NAME",
    about: "Tenant of events without a tenant. Default: default.",
  },
  ...PRICES_OPTIONS,
} as const;

interface SourceValues {
  readonly jaeger?: string | undefined;
  readonly dialect?: string | undefined;
  readonly tenant?: string | undefined;
  readonly run?: string | undefined;
}

/**
 * Options of `openSources`, which checks each of them.
 *
 * @throws CliError when there is no source.
 */
export function sourcesOptions(
  operands: readonly string[],
  { dialect, jaeger, run, tenant }: SourceValues,
  how: Pick<SourcesOptions, "follow" | "content" | "estimates" | "listen" | "save">,
): SourcesOptions {
  if (operands.length === 0 && jaeger === undefined && how.listen === undefined) {
    throw new CliError(
      "expected a source: a recording, spans, the folder of an audit log, postgres://…, --jaeger URL, or --listen",
      "Runs to look at: entelix-otel demo --view",
    );
  }
  return {
    ...how,
    ...(jaeger === undefined ? {} : { jaeger }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(run === undefined ? {} : { run }),
  };
}
