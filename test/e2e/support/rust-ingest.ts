import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ServeProcess } from "./serve-process.ts";
import type { Stack } from "./stack.ts";

/** `entelix-otel serve` beside a stack that gets its spans. */
export interface IngestServer {
  readonly process: ServeProcess;
  /** Its log of rows. */
  readonly audit: string;
  /** The token of a tenant that was named. */
  readonly tokenOf: (tenant: string) => string;
}

/** Starts a server with a token for each tenant. */
export async function startIngest(
  stack: Stack,
  tenants: readonly string[],
  serviceName: string,
): Promise<IngestServer> {
  const tokens = new Map(tenants.map((tenant) => [tenant, randomBytes(24).toString("base64url")]));
  const process = await ServeProcess.start(async (folder) => {
    const file = join(folder, "tokens.json");
    await writeFile(file, JSON.stringify({ tokens: [...tokens].map(entryOf) }), { mode: 0o600 });
    const options: Readonly<Record<string, string>> = {
      "--tokens": file,
      "--endpoint": stack.replayEndpoint,
      "--audit": join(folder, "audit"),
      "--service-name": serviceName,
    };
    return { args: Object.entries(options).flat() };
  });
  return {
    process,
    audit: process.at("audit"),
    tokenOf: (tenant) => {
      const token = tokens.get(tenant);
      if (token === undefined) throw new Error(`${tenant}: no such tenant`);
      return token;
    },
  };
}

function entryOf([tenant, token]: readonly [string, string]) {
  return { tenant, sha256: createHash("sha256").update(token).digest("hex") };
}
