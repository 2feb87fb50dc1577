import { createServer, type RequestListener } from "node:http";

/** A service on this machine that answers every request. */
export async function listening(answer: RequestListener = (_, response) => response.end("ok")) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("expected a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
