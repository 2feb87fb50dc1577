import { execFile } from "node:child_process";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";
import { namedPorts } from "./free-ports.ts";
import { keepFolder } from "./keeper.ts";
import { ServerProcess } from "./server-process.ts";
import { until } from "./until.ts";

const INSTALL = fileURLToPath(new URL("../../../scripts/servers/install.mjs", import.meta.url));
const run = promisify(execFile);

/** A PostgreSQL of its own on a free port of 127.0.0.1, with its data in a folder that is removed. */
export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #server: ServerProcess;
  readonly #forget: () => void;

  /** Installs PostgreSQL where it is absent, makes the data folder and starts the server. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const program = await installedPostgres();
    const folder = await mkdtemp(join(tmpdir(), "postgres-"));
    const forget = keepFolder(folder);
    const user = await serverUser();
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const data = join(folder, "data");
    const [initdb = "", ...asUser] = unprivileged(user, join(dirname(program), "initdb"));
    await run(
      initdb,
      [
        ...asUser,
        `--pgdata=${data}`,
        "--username=entelix",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
      ],
      { cwd: folder },
    );
    const ports = await namedPorts(["postgres"]);
    const port = ports("postgres");
    const [postgres = "", ...before] = unprivileged(user, program);
    const options = {
      listen_addresses: "127.0.0.1",
      port: String(port),
      unix_socket_directories: "",
      ...settings,
    };
    const server = new ServerProcess({
      name: "postgres",
      program: postgres,
      args: [
        ...before,
        "-D",
        data,
        ...Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      ],
      cwd: folder,
      log: join(folder, "postgres.log"),
      ready: () => withConnection(urlOf(port), (client) => client.query("select")),
    });
    const started = new PostgresServer(folder, port, server, forget);
    try {
      await server.start();
    } catch (error) {
      await started.#clear();
      throw error;
    }
    return started;
  }

  private constructor(folder: string, port: number, server: ServerProcess, forget: () => void) {
    this.folder = folder;
    this.port = port;
    this.#server = server;
    this.#forget = forget;
  }

  /** Of the database, as another role where one is named. */
  url(role = "entelix"): string {
    return urlOf(this.port, role);
  }

  /** Runs statements as the database's owner. */
  sql(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return withConnection(this.url(), async (client) => {
      const { rows }: { rows: Record<string, unknown>[] } = await client.query(text, values);
      return rows;
    });
  }

  /** `kill -9` of the server: what it had not written to its log is gone. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Starts it again. Processes of the killed one may take a moment to go. */
  async restart(): Promise<void> {
    await until("postgres again", async () => {
      await this.#server.start();
      return true;
    });
  }

  /** Ends the server at once and in order, and removes its data. */
  async stop(): Promise<void> {
    const { pid } = this.#server;
    // SIGTERM would wait for every connection to go.
    if (pid !== undefined) process.kill(pid, "SIGINT");
    await this.#server.stop();
    await this.#clear();
  }

  async #clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    this.#forget();
  }
}

/** Runs something on a connection of its own. */
export async function withConnection<T>(
  url: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  // The server may be killed while this is open; then the work says so.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(port: number, role = "entelix"): string {
  return `postgres://${role}@127.0.0.1:${port}/postgres`;
}

/** @returns the path of `postgres`. @throws (rejects) where it is absent and can't be installed. */
export async function installedPostgres(): Promise<string> {
  const running = run(process.execPath, [INSTALL, "postgresql"]);
  running.child.stderr?.pipe(process.stderr);
  const { stdout } = await running;
  const [, , ...path] = stdout.trim().split(" ");
  return path.join(" ");
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as a user that has no rights. */
async function serverUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const found = ["postgres", "nobody"]
    .map((name) => lines.find(([user]) => user === name))
    .find((line) => line !== undefined);
  if (found === undefined) throw new Error("no user postgres or nobody to run PostgreSQL as");
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

function unprivileged(user: User | undefined, program: string): string[] {
  if (user === undefined) return [program];
  return ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", program];
}
