import { parseArgs } from "node:util";
import { environmentWarnings, serviceResource, UNNAMED, UNNAMED_HINT } from "../bridge/door.ts";
import {
  IngestService,
  isLoopback,
  OPENAPI_TEXT,
  openStores,
  type Stores,
} from "../service/door.ts";
import { CliError, messageOf } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { httpUrl } from "./endpoints.ts";
import { openingFailed, openingHint } from "./services/opening-failed.ts";
import {
  auditRowsOption,
  checkDirectoryOption,
  countOption,
  DEFAULT_LISTEN,
  listenAddress,
  rateOption,
  tenantOption,
  urlOf,
  YEAR_S,
} from "./services/options.ts";
import { Reports, tornTexts } from "./services/reports.ts";
import { limitsOf, SERVE_OPTIONS, tokenEntries } from "./services/serve-options.ts";
import { HangUps, StopSignals } from "./services/signals.ts";
import { spanChoices } from "./span-options.ts";
import { counted } from "./terminal/table.ts";
import { safe } from "./terminal/text.ts";

/** Runs the bridge as an HTTP service for agents in any language. */
export const serve: Command = {
  operands: "",
  least: 0,
  most: 0,
  options: SERVE_OPTIONS,
  notes: [
    "POST /v1/events accepts NDJSON (also gzip) in every dialect. The answer has a result for each line: accepted, duplicate or rejected. GET /healthz, /readyz, /metrics and /openapi.json show the state of the service.",
    "SIGTERM and SIGINT stop the service: it accepts no new requests, finishes current ones, and stores accepted events. Open runs and events in the reorder buffer (5 s) stay in the journal and continue at the next start. A second signal, or a signal during the start, ends it at once. Acknowledged events are not lost.",
    "Protocol, headers, certificates, compression and timeout for --endpoint come from the OTEL_EXPORTER_OTLP_* variables.",
    "Sizes are in bytes, or with the unit KiB, MiB or GiB. For TLS, use a proxy in front of the service.",
    "Exit code: 0 stopped by a signal, 1 the service failed.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: SERVE_OPTIONS });
    if (values.openapi === true) {
      io.out.write(OPENAPI_TEXT);
      return 0;
    }
    const { host, port } = listenAddress(values.listen ?? DEFAULT_LISTEN);
    if (values.journal === undefined || values.journal === "") {
      throw new CliError("expected --journal DIR, the directory for accepted events", HINT);
    }
    checkDirectoryOption("--journal", values.journal);
    if (values.tokens === undefined && !isLoopback(host)) {
      throw new CliError(
        `--listen ${safe(host)}: expected --tokens FILE with it, because other machines can reach this address`,
        "Make a token: entelix-otel token --tenant NAME",
      );
    }
    if (values.endpoint !== undefined) httpUrl("--endpoint", values.endpoint);
    const limits = limitsOf(values);
    const lookback = countOption("--lookback", values.lookback, 100_000, 0);
    const runAgeMs = 1_000 * countOption("--run-age", values["run-age"], 86_400, 1, YEAR_S);
    const rate = rateOption("--rate", values.rate);
    const tenant = tenantOption(values.tenant);
    const rows = auditRowsOption(values["audit-rows"], values.audit);
    const reports = new Reports(io.err);
    const onWait = (text: string) => reports.say(text);
    const tokens =
      values.tokens === undefined ? undefined : await tokenEntries(values.tokens, onWait);
    for (const warning of await environmentWarnings()) reports.say(warning);
    const signals = new StopSignals();
    const hangUps = new HangUps();
    const stores = await openStores({
      endpoint: values.endpoint,
      audit: values.audit,
      onError: reports.error,
    }).catch((error: unknown) => {
      signals.release();
      hangUps.release();
      const hint = openingHint(error, values.audit ?? "");
      throw new CliError(`--audit: ${safe(messageOf(error))}`, hint, { cause: error });
    });
    const resource = serviceResource(values["service-name"]);
    try {
      const service = await IngestService.start({
        journal: values.journal,
        host,
        port,
        tokens,
        rate,
        tenant,
        service: resource,
        spans: stores.spans,
        audit: stores.audit,
        rows,
        onSpans: spanChoices(values),
        lookback,
        runAgeMs,
        limits,
        onError: reports.error,
        onTorn: (torn) => {
          for (const text of tornTexts(torn)) reports.say(text);
        },
      }).catch((error: unknown) => {
        throw openingFailed(error, values.journal ?? "", `${host}:${port}`);
      });
      announce(service, values, io, resource.serviceName === UNNAMED);
      return await runUntilAsked(service, values.tokens, { signals, hangUps }, reports);
    } finally {
      await closeStores(stores, reports);
      signals.release();
      hangUps.release();
      io.leaveSoon();
    }
  },
};

const HINT = "Run: entelix-otel serve --help";

type Values = Readonly<Partial<Record<keyof typeof SERVE_OPTIONS, string | boolean>>>;
function announce(service: IngestService, values: Values, io: Io, unnamed: boolean): void {
  const { address, recovered } = service;
  const url = urlOf(address.address, address.port);
  const kept = `${counted(recovered.lines, "line")} in the journal`;
  const needed = recovered.needed === 0 ? "all done" : `${recovered.needed} still needed`;
  const { missing, torn, tornBytes } = recovered;
  const places = torn === 0 ? "" : `, ${counted(torn, "damaged place")}`;
  const aside = tornBytes === 0 ? "" : `, ${counted(tornBytes, "byte")} set aside`;
  const gone = missing === 0 ? "" : `, ${counted(missing, "line")} missing`;
  io.out.line(`Listening on ${url} (${kept}, ${needed}${places}${aside}${gone}).`);
  if (values.endpoint === undefined && values.audit === undefined) {
    io.err.line("Spans and rows are not sent or stored. Use --endpoint or --audit.");
  } else if (unnamed && values.endpoint !== undefined) {
    io.err.line(UNNAMED_HINT);
  }
}

async function runUntilAsked(
  service: IngestService,
  tokens: string | undefined,
  { signals, hangUps }: { readonly signals: StopSignals; readonly hangUps: HangUps },
  reports: Reports,
): Promise<number> {
  const reread = async () => {
    if (tokens === undefined) {
      reports.say("SIGHUP: no --tokens file to reload");
      return;
    }
    try {
      await service.reloadTokens(() => tokenEntries(tokens, (text) => reports.say(text)));
      reports.say(`SIGHUP: reloaded the tokens of ${tokens}`);
    } catch (error) {
      reports.say(`SIGHUP: tokens not reloaded: ${messageOf(error)}`);
    }
  };
  hangUps.answerBy(reread);
  let code = 0;
  await Promise.race([signals.started(), service.ended]).catch((error: unknown) => {
    code = 1;
    reports.say(`the service failed: ${messageOf(error)}`);
  });
  await service.stop();
  return code;
}

async function closeStores(stores: Stores, reports: Reports): Promise<void> {
  await stores.close().catch((error: unknown) => reports.error(error, "stores"));
}
