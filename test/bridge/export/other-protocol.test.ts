import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { withGrpcHint } from "../../../src/bridge/export/other-protocol.ts";
import { portOf } from "./support/protobuf-server.ts";
import { rig } from "./support/rig.ts";

const ADVICE =
  "this exporter sends OTLP/HTTP: set the endpoint to the receiver's port for it, usually 4318";

it("a server of HTTP/2 is named at the first request, with what to set", async () => {
  // Its settings frame, with which every HTTP/2 server begins.
  const server = createServer((socket) => {
    socket.resume().end("\0\0\0\x04\0\0\0\0\0", "latin1");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { end, ledger, processor } = rig(`http://127.0.0.1:${portOf(server.address())}/v1/traces`);
  end(["a"]);
  const said = `it speaks HTTP/2, as OTLP over gRPC does; ${ADVICE}`;
  await expect(processor.forceFlush()).rejects.toThrow(said);
  expect(ledger.counts()).toMatchObject({ failed: 1, lost: { rejected: 1 } });
  expect(ledger.lastError).toBe(said);
});

it("a failed connection to port 4317 says that it is the port for gRPC", () => {
  const error = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  expect(withGrpcHint(error, "http://collector:4317/v1/traces")).toMatchObject({
    message: `socket hang up; port 4317 is usually for OTLP over gRPC; ${ADVICE}`,
    code: "ECONNRESET",
  });
  expect(withGrpcHint(error, "http://collector:4318/v1/traces")).toBe(error);
});
