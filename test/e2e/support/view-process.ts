import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { keep } from "./keeper.ts";

/** The built command. */
export const MAIN = fileURLToPath(new URL("../../../dist/cli/main.mjs", import.meta.url));

/** `entelix-otel view`, and what it said. */
export class ViewProcess {
  /** The address that it printed. */
  readonly url: string;
  readonly #end: () => Promise<number | null>;

  private constructor(url: string, end: () => Promise<number | null>) {
    this.url = url;
    this.#end = end;
  }

  /** @throws (rejects) Error with what it said, when it ends. */
  static async start(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ViewProcess> {
    const child = spawn(process.execPath, [MAIN, "view", ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    keep(child);
    let said = "";
    const ended = once(child, "close");
    const url = await new Promise<string>((resolve, reject) => {
      const listen = (chunk: Buffer) => {
        said += chunk.toString();
        const [, found] = /(http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      ended.then(() => reject(new Error(`view ended: ${said}`)), reject);
    });
    return new ViewProcess(url, async () => {
      child.kill("SIGTERM");
      await ended;
      return child.exitCode;
    });
  }

  get origin(): string {
    return new URL(this.url).origin;
  }

  /** Ends it as a user would. @returns its exit code. */
  stop(): Promise<number | null> {
    return this.#end();
  }
}
