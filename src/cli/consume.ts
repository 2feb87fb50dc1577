import { parseArgs } from "node:util";
import { environmentWarnings, serviceResource, UNNAMED, UNNAMED_HINT } from "../bridge/door.ts";
import { DIALECT_NAMES, RUNTIMES } from "../replay/door.ts";
import {
  consumeMetricsText,
  KafkaService,
  type KafkaServiceOptions,
  KafkaUnavailableError,
  kafkaMessage,
  LogProcessor,
  loadKafkaLibrary,
  openStores,
  type StatusOptions,
  StatusServer,
} from "../service/door.ts";
import { CliError, messageOf } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { signalEndpoint } from "./endpoints.ts";
import { runtimesNamed } from "./replay/replay-job.ts";
import { kafkaClientOptions } from "./services/kafka-client-options.ts";
import { openingHint } from "./services/opening-failed.ts";
import {
  AUDIT_ROWS_OPTION,
  auditRowsOption,
  bytesOption,
  countOption,
  ENDPOINT_OPTION,
  type ListenAddress,
  listenAddress,
  SERVICE_NAME_OPTION,
  tenantOption,
  YEAR_S,
} from "./services/options.ts";
import { reportRarely } from "./services/reports.ts";
import { sayWaiting } from "./services/say-waiting.ts";
import { StopSignals } from "./services/signals.ts";
import { SPAN_OPTIONS, spanChoices } from "./span-options.ts";
import { safe } from "./terminal/text.ts";

const OPTIONS = {
  brokers: {
    type: "string",
    value: "HOST:PORT,…",
    about: "Bootstrap brokers. Required.",
  },
  topic: {
    type: "string",
    multiple: true,
    value: "TOPIC",
    about: "Topic with events. Can be repeated. Required.",
  },
  group: { type: "string", value: "GROUP", about: "Consumer group. Default: entelix-otel." },
  "dead-letter": {
    type: "string",
    value: "TOPIC",
    about:
      "Topic for records that cannot be read. none: they are only reported and counted. Required.",
  },
  endpoint: ENDPOINT_OPTION,
  audit: {
    type: "string",
    value: "DIR|URL",
    about:
      "Write the audit rows to a directory (only for a single worker), or to PostgreSQL at postgres://….",
  },
  "audit-rows": AUDIT_ROWS_OPTION,
  "service-name": SERVICE_NAME_OPTION,
  tenant: {
    type: "string",
    value: "NAME",
    about: "Tenant of events without a tenant. Default: default.",
  },
  dialect: {
    type: "string",
    value: "NAME",
    about: `Dialect of records without the header entelix-dialect: ${DIALECT_NAMES.join(", ")}. Default: auto, which detects it for each line.`,
  },
  "from-end": {
    type: "boolean",
    about:
      "Without committed offsets, start at the end of the topic instead of its beginning. Earlier records are skipped, also those of a partition that is added later, until a worker sees it.",
  },
  lookback: {
    type: "string",
    value: "N",
    about:
      "Number of records before the committed offset that are read again to restore state. Default: 100000.",
  },
  "max-record": {
    type: "string",
    value: "BYTES",
    about:
      "Maximum size of a record with its key and headers, after decompression. A larger one goes to the dead-letter topic, cut. Default: 16MiB.",
  },
  "run-age": {
    type: "string",
    value: "S",
    about:
      "Time without events, in s of event time, after which a run counts as ended and no longer blocks commits. Default: 86400.",
  },
  "ignore-traceparent": {
    type: "boolean",
    about: "Ignore traceparent in events.",
  },
  ...SPAN_OPTIONS,
  tls: { type: "boolean", about: "Use TLS for the brokers. Default: off." },
  "tls-ca": {
    type: "string",
    value: "FILE",
    about: "Certificate authorities of the brokers, PEM.",
  },
  "tls-cert": { type: "string", value: "FILE", about: "Client certificate, PEM." },
  "tls-key": { type: "string", value: "FILE", about: "Key of the client certificate, PEM." },
  sasl: {
    type: "string",
    value: "MECHANISM",
    about: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER; see below.",
  },
  instance: {
    type: "string",
    value: "NAME",
    about:
      "Name of this worker as a static group member. It keeps its partitions if it restarts within the session timeout.",
  },
  "session-timeout": {
    type: "string",
    value: "S",
    about: "Time without heartbeats, in s, after which a worker loses its partitions. Default: 45.",
  },
  grace: {
    type: "string",
    value: "S",
    about: "Time limit for pending work when partitions move to another worker, in s. Default: 10.",
  },
  listen: {
    type: "string",
    value: "HOST:PORT",
    about: "Address for /healthz, /readyz and /metrics. Default: none.",
  },
} as const;

const DEFAULT_GROUP = "entelix-otel";
const NO_DEAD_LETTERS = "none";
const MAX_RECORD = 16 * 1024 * 1024;
/** A longer record might not fit into a string. */
const MOST_RECORD = 256 * 1024 * 1024;
/** Time without progress, in ms, after which a partition is not ready. */
const STUCK_MS = 300_000;

/** A worker of a consumer group. Runs until a signal stops it. */
export const consume: Command = {
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "A worker commits an offset when the spans and rows of all records before it are stored and no earlier run is open. After a crash, it reads from the committed offset and makes the identical spans and rows.",
    "Use the root run's ID as the key of records (or the thread ID if it is not known), because a run and its child runs must be in one partition. A value has one or more lines. Headers: entelix-dialect, entelix-tenant.",
    "Requires the package @platformatic/kafka 2.12 and Node 22.22 or newer.",
    "SASL uses the variables ENTELIX_KAFKA_USERNAME and ENTELIX_KAFKA_PASSWORD, or ENTELIX_KAFKA_TOKEN. Protocol, headers, certificates, compression and timeout for --endpoint come from the OTEL_EXPORTER_OTLP_* variables.",
    "SIGTERM and SIGINT stop the worker: it stores finished work, commits, and leaves the group. Open runs stay open, and the next worker continues them. A second signal, or a signal during the start, ends it at once.",
    "Exit code: 0 stopped by a signal, 1 the worker failed.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const topics = values.topic ?? [];
    if (topics.length === 0) throw new CliError("--topic: expected the topic with the events");
    const deadLetter = deadLetterOf(values["dead-letter"], topics);
    const endpoint = values.endpoint && signalEndpoint("traces", values.endpoint, {});
    if (endpoint === undefined && values.audit === undefined) {
      throw new CliError("expected --endpoint or --audit for the spans or rows");
    }
    const [runtime, ...others] = runtimesNamed(values.dialect);
    const listen = values.listen === undefined ? undefined : listenAddress(values.listen);
    const sessionS = countOption("--session-timeout", values["session-timeout"], 45, 6, 600);
    const sessionTimeoutMs = 1_000 * sessionS;
    const graceMs = 1_000 * countOption("--grace", values.grace, 10, 1, 600);
    if (graceMs >= sessionTimeoutMs) {
      throw new CliError(
        "--grace: expected less than --session-timeout, because no heartbeats are sent during the grace time",
      );
    }
    const lookback = countOption("--lookback", values.lookback, 100_000, 0);
    const maxAgeMs = 1_000 * countOption("--run-age", values["run-age"], 86_400, 1, YEAR_S);
    const maxRecordBytes = bytesOption(
      "--max-record",
      values["max-record"],
      MAX_RECORD,
      1024,
      MOST_RECORD,
    );
    const tenant = tenantOption(values.tenant);
    const rows = auditRowsOption(values["audit-rows"], values.audit);
    const client = await kafkaClientOptions(values, io.env, sayWaiting(io));
    for (const warning of await environmentWarnings()) io.err.line(safe(warning));
    const library = await loadKafkaLibrary().catch((error) => {
      throw error instanceof KafkaUnavailableError ? new CliError(error.message) : error;
    });

    const say = reportRarely((line) => io.err.line(safe(line)));
    const onError = (error: unknown, where: string) => {
      // Errors of different offsets are one kind.
      const kind = `${where.replace(/:\d+$/, "")}: ${messageOf(error)}`;
      say(kind, `${where}: ${messageOf(error)}`);
    };
    const signals = new StopSignals();
    const service = serviceResource(values["service-name"]);
    if (service.serviceName === UNNAMED && endpoint !== undefined) {
      say("service", UNNAMED_HINT);
    }
    const stores = await openStores({ endpoint, audit: values.audit, onError }).catch(
      (error: unknown) => {
        const hint = openingHint(error, values.audit ?? "");
        throw new CliError(`--audit: ${safe(messageOf(error))}`, hint, { cause: error });
      },
    );
    const options: KafkaServiceOptions = {
      client,
      group: values.group ?? DEFAULT_GROUP,
      instance: values.instance,
      topics,
      deadLetterTopic: deadLetter,
      lookback,
      fromEnd: values["from-end"] ?? false,
      rules: {
        dialect: others.length === 0 ? runtime.dialect.name : undefined,
        dialects: RUNTIMES.map((runtime) => runtime.dialect.name),
        trusted: !(values["ignore-traceparent"] ?? false),
      },
      maxRecordBytes,
      sessionTimeoutMs,
      graceMs,
      makeProcessor: (name, from, onRejected) =>
        new LogProcessor({
          name,
          from,
          tenant,
          service,
          spans: stores.spans,
          audit: stores.audit,
          rows,
          onSpans: spanChoices(values),
          limits: { maxAgeMs },
          onRejected,
          onError,
        }),
      onError,
      onNotice: (text) => io.err.line(safe(text)),
    };
    try {
      await work(new KafkaService(library, options), listen, signals.started(), io, onError);
    } finally {
      await stores.close();
    }
    io.leaveSoon();
    return 0;
  },
};

async function work(
  service: KafkaService,
  listen: ListenAddress | undefined,
  stopped: Promise<void>,
  io: Io,
  onError: KafkaServiceOptions["onError"],
): Promise<void> {
  let status: StatusServer | undefined;
  let member = false;
  try {
    if (listen !== undefined) {
      const notReady = () => (member ? standsStill(service) : "not a member of its group yet");
      status = await statusServer({
        ...listen,
        notReady,
        metrics: () => consumeMetricsText(service),
        onError: (error) => onError(error, "--listen"),
      });
      io.err.line(`listening on http://${listen.host}:${status.port}`);
    }
    const started = service.start().then(() => {
      member = true;
    });
    await Promise.race([started, stopped]);
    await stopped;
  } catch (error) {
    throw error instanceof CliError
      ? error
      : new CliError(safe(kafkaMessage(error)), undefined, { cause: error });
  } finally {
    await service.stop();
    await status?.close();
  }
}

async function statusServer(options: StatusOptions): Promise<StatusServer> {
  try {
    return await StatusServer.listen(options);
  } catch (error) {
    throw new CliError(`--listen: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
}

function standsStill({ partitions }: KafkaService): string | undefined {
  const stuck = partitions.find(({ stuckMs }) => stuckMs > STUCK_MS);
  if (stuck !== undefined) {
    const { partition, stuckMs, topic } = stuck;
    return `partition ${partition} of ${topic} has not moved for ${Math.round(stuckMs / 1000)} s`;
  }
  const stalled = partitions.filter(({ processor }) => processor.stalled);
  return stalled.length === 0 ? undefined : `${stalled.length} partitions stand still`;
}

function deadLetterOf(text: string | undefined, topics: readonly string[]): string | undefined {
  if (text === undefined) {
    const hint = "--dead-letter none: unreadable records are reported and counted, but not stored.";
    throw new CliError("--dead-letter: expected a topic for unreadable records, or none", hint);
  }
  if (topics.includes(text)) {
    throw new CliError(`--dead-letter: expected a topic other than --topic ${safe(text)}`);
  }
  return text === NO_DEAD_LETTERS ? undefined : text;
}
