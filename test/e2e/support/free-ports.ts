import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";

/**
 * Where ports are looked for: below those that the system gives to connections (from 32768), so that
 * a server that is stopped in a test finds its port free when it starts again.
 */
const [FIRST, LAST] = [20_000, 32_000];
const TRIES = 1000;

/** A port of this machine for each name that nobody listens on, all different. */
export async function namedPorts<const N extends string>(
  names: readonly N[],
): Promise<(name: N) => number> {
  const ports = new Map<string, number>();
  const held: Server[] = [];
  for (let tries = 0; ports.size < names.length && tries < TRIES; tries++) {
    const server = await listen(randomInt(FIRST, LAST));
    const name = names[ports.size];
    if (server === undefined || name === undefined) continue;
    held.push(server);
    ports.set(name, portOf(server));
  }
  // Held until all are found, so that none is found twice.
  await Promise.all(held.map((server) => new Promise((closed) => server.close(closed))));
  return (name) => {
    const port = ports.get(name);
    if (port === undefined) throw new Error(`${name}: no free port between ${FIRST} and ${LAST}`);
    return port;
  };
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a TCP port");
  return address.port;
}
