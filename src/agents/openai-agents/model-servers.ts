import { subscribe } from "node:diagnostics_channel";
import { fieldIn, fieldsOf, type ModelRequest } from "../core/door.ts";
import { serverOf } from "../runtime/door.ts";
import { currentSpan } from "./current-span.ts";

type Server = Pick<ModelRequest, "server_address" | "server_port">;

/** Node.js publishes each request of `fetch` here, in the context of its caller. */
const REQUESTS = "undici:request:create";

/** The servers of model calls, by the data of their spans. */
const servers = new WeakMap<object, Server>();
let isWatching = false;

/**
 * Watches to which servers model calls send requests. The SDK's spans do not name them. All processors share one
 * subscription, which lasts as long as the process.
 */
export function watchServers(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe(REQUESTS, (message) => {
    try {
      note(message);
    } catch {
      // Node.js would throw the error of a subscriber in the application.
    }
  });
}

/** The server that a model call asked, as far as known. */
export function serverAsked(data: object): Server | undefined {
  return servers.get(data);
}

function note(message: unknown): void {
  const data = fieldsOf(fieldIn(currentSpan(), "spanData"));
  if (data?.type !== "response" && data?.type !== "generation") return;
  const server = serverOf(fieldIn(fieldIn(message, "request"), "origin"));
  if (server.server_address !== undefined) servers.set(data, server);
}
