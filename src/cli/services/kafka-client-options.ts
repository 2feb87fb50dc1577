import { inputText, type OnWait } from "../../audit/door.ts";
import {
  type ClientOptions,
  SASL_MECHANISMS,
  type SaslMechanism,
  type SaslOptions,
  type TlsOptions,
} from "../../service/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Options of `consume` for the connection to the brokers. */
interface BrokerValues {
  readonly brokers?: string | undefined;
  readonly tls?: boolean | undefined;
  readonly "tls-ca"?: string | undefined;
  readonly "tls-cert"?: string | undefined;
  readonly "tls-key"?: string | undefined;
  readonly sasl?: string | undefined;
}

const CLIENT_ID = "entelix-otel";

/** @throws CliError if an option or variable is missing or invalid. */
export async function kafkaClientOptions(
  values: BrokerValues,
  env: Env,
  onWait: OnWait,
): Promise<ClientOptions> {
  const bootstrapBrokers = brokersOf(values.brokers);
  const tls = await tlsOf(values, onWait);
  const sasl = saslOf(values.sasl, env);
  if (sasl !== undefined && sasl.mechanism === "PLAIN" && tls === undefined) {
    throw new CliError(
      "--sasl PLAIN: expected --tls with it, because the password is sent in plain text",
    );
  }
  return {
    clientId: CLIENT_ID,
    bootstrapBrokers,
    ...(tls === undefined ? {} : { tls }),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

function brokersOf(text: string | undefined): string[] {
  const brokers = (text ?? "").split(",").map((broker) => broker.trim());
  for (const broker of brokers) {
    const port = Number(/^(?:\[[\da-f:]+\]|[^\s:/[\]]+):(\d{1,5})$/i.exec(broker)?.[1]);
    if (port >= 1 && port <= 65_535) continue;
    throw new CliError(`--brokers: expected host:port,…, got "${safe(text ?? "")}"`);
  }
  return brokers;
}

async function tlsOf(values: BrokerValues, onWait: OnWait): Promise<TlsOptions | undefined> {
  const files = {
    ca: values["tls-ca"],
    cert: values["tls-cert"],
    key: values["tls-key"],
  };
  const named = Object.entries(files).filter(([, file]) => file !== undefined);
  if (values.tls !== true) {
    const [first] = named;
    if (first !== undefined) throw new CliError(`--tls-${first[0]}: expected --tls with it`);
    return undefined;
  }
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new CliError("--tls-cert and --tls-key: expected both of them or none");
  }
  const texts = await Promise.all(
    named.map(
      async ([name, file = ""]) => [name, await pem(`--tls-${name}`, file, onWait)] as const,
    ),
  );
  return Object.fromEntries(texts);
}

async function pem(option: string, file: string, onWait: OnWait): Promise<string> {
  try {
    return await inputText(file, onWait);
  } catch (error) {
    throw new CliError(`${option}: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
}

function saslOf(text: string | undefined, env: Env): SaslOptions | undefined {
  if (text === undefined) return undefined;
  const mechanism = SASL_MECHANISMS.find((name) => name === text.toUpperCase());
  if (mechanism === undefined) {
    throw new CliError(`--sasl: expected ${SASL_MECHANISMS.join(", ")}, got "${safe(text)}"`);
  }
  const needed = (variable: string) => {
    const value = env[variable];
    if (!value) throw new CliError(`--sasl ${mechanism}: expected the variable ${variable}`);
    return value;
  };
  return credentials(mechanism, needed);
}

/** From the environment: every user of the machine can read the options of a process. */
function credentials(mechanism: SaslMechanism, needed: (variable: string) => string): SaslOptions {
  switch (mechanism) {
    case "OAUTHBEARER":
      return { mechanism, token: needed("ENTELIX_KAFKA_TOKEN") };
    case "PLAIN":
    case "SCRAM-SHA-256":
    case "SCRAM-SHA-512":
      return {
        mechanism,
        username: needed("ENTELIX_KAFKA_USERNAME"),
        password: needed("ENTELIX_KAFKA_PASSWORD"),
      };
    default:
      return mechanism satisfies never;
  }
}
