import { connect, createServer, type Server, type Socket } from "node:net";
import { portOf } from "./free-ports.ts";

/** Stands between a client and the server, and can lose what the server answers. */
export class AnswerCutter {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cuts = 0;
  /** Connections that were cut before the answer. */
  cut = 0;

  static async before(port: number): Promise<AnswerCutter> {
    const cutter = new AnswerCutter(port);
    await new Promise<void>((listening) => cutter.#server.listen(0, "127.0.0.1", listening));
    return cutter;
  }

  private constructor(port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, "127.0.0.1")));
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** The next so many answers to appends are lost, and their connections break. */
  cutNext(answers: number): void {
    this.#cuts = answers;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }

  #join(client: Socket, server: Socket): void {
    let appends = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (bytes.includes("append_rows")) appends = true;
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (appends && this.#cuts > 0) {
        this.#cuts -= 1;
        this.cut += 1;
        client.destroy();
        return;
      }
      appends = false;
      client.write(bytes);
    });
  }
}
