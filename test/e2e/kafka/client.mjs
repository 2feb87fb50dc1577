// The Kafka client of the end-to-end tests, from the folder where scripts/servers has installed it.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { KAFKA_CLIENT, KAFKA_BROKERS } = process.env;
const require = createRequire(join(KAFKA_CLIENT, "from-here.js"));

export const kafka = await import(pathToFileURL(require.resolve("@platformatic/kafka")).href);
export const options = { clientId: "entelix-tests", bootstrapBrokers: [KAFKA_BROKERS] };
