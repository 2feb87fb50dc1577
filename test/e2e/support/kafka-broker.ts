import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { namedPorts } from "./free-ports.ts";
import { type KafkaInstalled, kafkaInstalled } from "./kafka-installed.ts";
import { keep, keepFolder } from "./keeper.ts";
import { ServerProcess } from "./server-process.ts";

const PROGRAMS = fileURLToPath(new URL("../kafka/", import.meta.url));
const MAX_OUTPUT = 1024 * 1024 * 1024;

/** One record to produce. Neither `value` nor `base64`: a record without a value. */
export interface RecordToProduce {
  readonly key?: string;
  readonly value?: string;
  readonly base64?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A record as `read-topic.mjs` prints it. */
export interface ReadRecord {
  readonly key: string | null;
  readonly base64: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly partition: number;
  readonly offset: number;
}

/** A real Kafka broker in KRaft mode, in a folder of its own. */
export class KafkaBroker {
  readonly installed: KafkaInstalled;
  /** Scratch, for other servers of the same test too. */
  readonly folder: string;
  readonly address: string;
  readonly server: ServerProcess;
  readonly #forgetFolder: () => void;

  private constructor(installed: KafkaInstalled, folder: string, address: string, args: string[]) {
    this.installed = installed;
    this.folder = folder;
    this.address = address;
    this.#forgetFolder = keepFolder(folder);
    const log = join(folder, "kafka.log");
    this.server = new ServerProcess({
      name: "kafka",
      program: "java",
      args: [...args, "kafka.Kafka", join(folder, "server.properties")],
      cwd: folder,
      log,
      ready: async () => {
        const said = await readFile(log, "utf8");
        const started = said.lastIndexOf("Kafka Server started");
        if (started < said.lastIndexOf("Starting controller") || started < 0)
          throw new Error("not yet");
        return started;
      },
    });
  }

  static async start(): Promise<KafkaBroker> {
    const installed = await kafkaInstalled();
    const folder = await mkdtemp(join(tmpdir(), "entelix-kafka-"));
    const ports = await namedPorts(["broker", "controller"]);
    const address = `127.0.0.1:${ports("broker")}`;
    const properties = join(folder, "server.properties");
    await mkdir(join(folder, "data"));
    await writeFile(
      properties,
      serverProperties(join(folder, "data"), address, ports("controller")),
    );
    const args = ["-Xmx512m", "-cp", `${installed.jars}/*`];
    const tool = [...args, "kafka.tools.StorageTool"];
    const { stdout } = await promisify(execFile)("java", [...tool, "random-uuid"]);
    const id = stdout.trim().split("\n").at(-1) ?? "";
    await promisify(execFile)("java", [...tool, "format", "-t", id, "-c", properties]);
    const broker = new KafkaBroker(installed, folder, address, args);
    await broker.server.start();
    return broker;
  }

  /** @param topics `name:partitions` each. */
  async createTopics(...topics: string[]): Promise<void> {
    await this.#run("create-topics.mjs", topics);
  }

  /** @returns how many were acknowledged: all of them. */
  async produce(
    topic: string,
    records: Iterable<RecordToProduce> | AsyncIterable<RecordToProduce>,
    perSecond?: number,
  ): Promise<number> {
    const args = perSecond === undefined ? [topic] : [topic, String(perSecond)];
    const child = spawn(this.installed.node, [join(PROGRAMS, "produce.mjs"), ...args], {
      env: { ...process.env, ...this.#env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    keep(child);
    const said = child.stdout.setEncoding("utf8").toArray();
    const ended = new Promise((resolve) => child.once("close", resolve));
    await pipeline(Readable.from(jsonLines(records)), child.stdin);
    const status = await ended;
    if (status !== 0) throw new Error(`produce.mjs ended with ${status}`);
    return Number((await said).join(""));
  }

  /** Batches of odd shapes into partition 0, as `produce-odd.mjs` describes them. */
  async produceOdd(topic: string, ...shapes: readonly string[]): Promise<void> {
    await this.#run("produce-odd.mjs", [topic, ...shapes]);
  }

  async *read(topic: string): AsyncGenerator<ReadRecord> {
    const stdout = await this.#run("read-topic.mjs", [topic]);
    for (const line of stdout.split("\n")) if (line !== "") yield JSON.parse(line);
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    this.#forgetFolder();
  }

  get #env() {
    return { KAFKA_CLIENT: this.installed.client, KAFKA_BROKERS: this.address };
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      this.installed.node,
      [join(PROGRAMS, program), ...args],
      { env: { ...process.env, ...this.#env }, maxBuffer: MAX_OUTPUT },
    );
    return stdout;
  }
}

async function* jsonLines(
  records: Iterable<RecordToProduce> | AsyncIterable<RecordToProduce>,
): AsyncGenerator<string> {
  let text = "";
  for await (const record of records) {
    text += `${JSON.stringify(record)}\n`;
    if (text.length < 1 << 16) continue;
    yield text;
    text = "";
  }
  yield text;
}

function serverProperties(data: string, address: string, controller: number): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=PLAINTEXT://${address},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://${address}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=${data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=200
`;
}
