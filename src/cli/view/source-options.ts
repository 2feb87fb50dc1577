import { isPostgresUrl } from "../../audit/postgres/postgres-options.ts";
import { DIALECT_NAMES } from "../../runtimes/runtimes.ts";
import type { SourcesOptions } from "../../view/runs/viewed-runs.ts";
import { CliError } from "../cli-error.ts";
import { DEFAULT_JAEGER, httpUrl } from "../endpoints.ts";
import { runtimesNamed } from "../replay/replay-job.ts";
import { tenantOption } from "../services/options.ts";

/** For the help: what can be named. */
export const SOURCES_NOTE =
  "FILE is a recording (events as NDJSON, also gzip) or spans as OTLP/JSON lines (replay --out). DIR is an audit log, or a folder of such files. postgres://USER@HOST/DATABASE is an audit log in PostgreSQL, with ?schema=NAME if the schema is not entelix. The password comes from PGPASSWORD or ~/.pgpass.";

/** What the commands that show runs are told of their sources. */
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
} as const;

interface SourceValues {
  readonly jaeger?: string | undefined;
  readonly dialect?: string | undefined;
  readonly tenant?: string | undefined;
}

/**
 * Checks what the user said of the sources, before one is opened.
 *
 * @throws CliError when there is none, or something is wrong with a name or an option.
 */
export function sourcesOptions(
  places: readonly string[],
  { dialect, jaeger, tenant }: SourceValues,
  how: Pick<SourcesOptions, "follow" | "content">,
): SourcesOptions {
  if (places.length === 0 && jaeger === undefined) {
    throw new CliError(
      "expected what to show: a recording, spans, the folder of an audit log, postgres://…, or --jaeger URL",
      "Runs to look at: entelix-otel demo --view",
    );
  }
  for (const place of places) checkDatabase(place);
  runtimesNamed(dialect);
  return {
    ...how,
    ...(jaeger === undefined ? {} : { jaeger: jaegerUrl(jaeger) }),
    ...(dialect === undefined ? {} : { dialect }),
    tenant: tenantOption(tenant),
  };
}

/** Command lines are seen by others, and kept in histories: a password is not for them, nor for an error. */
function checkDatabase(place: string): void {
  if (!isPostgresUrl(place)) return;
  const url = URL.canParse(place) ? new URL(place) : undefined;
  if (url === undefined) throw new CliError("expected postgres://USER@HOST/DATABASE");
  if (url.password === "" && !url.searchParams.has("password")) return;
  throw new CliError(
    "expected a postgres:// URL without a password",
    "The password comes from PGPASSWORD or ~/.pgpass.",
  );
}

function jaegerUrl(text: string): string {
  const url = httpUrl("--jaeger", text, DEFAULT_JAEGER);
  if (url.username === "" && url.password === "") return url.href;
  throw new CliError("--jaeger: expected an address without user and password");
}
