import { NotOtlpError } from "./attempt.ts";

/** The port of OTLP over gRPC. */
const GRPC_PORT = "4317";

/** What to set if an endpoint is for OTLP over gRPC. */
export const HTTP_PORT_ADVICE =
  "this exporter sends OTLP/HTTP: set the endpoint to the receiver's port for it, usually 4318";

/**
 * Names OTLP over gRPC as the cause of a failed connection, if it is.
 *
 * @returns `error`, if nothing points to gRPC.
 */
export function withGrpcHint(error: Error, url: string): Error {
  if (isHttp2(error)) {
    return new NotOtlpError(`it speaks HTTP/2, as OTLP over gRPC does; ${HTTP_PORT_ADVICE}`);
  }
  if (new URL(url).port !== GRPC_PORT) return error;
  const code = "code" in error ? { code: error.code } : {};
  const text = error.message || error.name;
  const hint = `port ${GRPC_PORT} is usually for OTLP over gRPC; ${HTTP_PORT_ADVICE}`;
  return Object.assign(new Error(`${text}; ${hint}`, { cause: error }), code);
}

/** Whether the server began with the settings frame of HTTP/2. Node's error has the bytes that it could not read. */
function isHttp2(error: Error): boolean {
  const raw: unknown = "rawPacket" in error ? error.rawPacket : undefined;
  return raw instanceof Uint8Array && raw.length >= 9 && raw[3] === SETTINGS && raw[8] === 0;
}

/** Type of that frame. It is for stream 0. */
const SETTINGS = 0x04;
