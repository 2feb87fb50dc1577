// Processes of child.mjs, one side a process. The sides take turns, each round in the other direction, so that what
// disturbs the machine disturbs all, and each round gives one ratio.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { newerNode } from "../newer-node.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { makeProject } from "./project.mjs";

const run = promisify(execFile);
/** Of one process, in ms. */
const LIMIT = 900_000;
/** Of one export. With the usual ones, exporters lose the largest requests on a busy machine. */
const TIMEOUTS = {
  OTEL_EXPORTER_OTLP_TIMEOUT: "120000",
  OTEL_BSP_EXPORT_TIMEOUT: "120000",
  LANGFUSE_TIMEOUT: "120",
};

/**
 * Installs the peers and starts the receiver.
 *
 * @param before folder of another version of the package.
 */
export async function startRounds(before) {
  const { folder, versionOf } = makeProject(before);
  const receiver = fork(fileURLToPath(new URL("receiver.mjs", import.meta.url)));
  process.once("exit", () => receiver.kill());
  const [{ port }] = await once(receiver, "message");
  const url = `http://127.0.0.1:${port}`;
  let newer;
  const nodeOf = (framework) => {
    if (!FRAMEWORKS[framework].isNewer) return process.execPath;
    newer ??= newerNode();
    return newer;
  };

  async function child(framework, side, options) {
    const isOpen = options.measure === "open";
    const flags = isOpen ? ["--expose-gc", "--max-old-space-size=6144"] : [];
    const given = { framework, side: side === "control" ? "ours" : side, ...options };
    if (!isOpen) given.url = url;
    const { stdout } = await run(
      nodeOf(framework),
      [...flags, "child.mjs", JSON.stringify(given)],
      {
        cwd: folder,
        env: { PATH: process.env.PATH, ...TIMEOUTS },
        timeout: LIMIT,
        killSignal: "SIGKILL",
      },
    );
    return JSON.parse(stdout.trim().split("\n").at(-1));
  }

  return {
    versionOf,
    /** @returns by side, the result of each round. */
    async rounds(framework, sides, count, options) {
      const results = new Map(sides.map((side) => [side, []]));
      for (let round = 0; round < count; round++) {
        for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
          results.get(side).push(await child(framework, side, options));
        }
      }
      return results;
    },
    end: () => receiver.kill(),
  };
}
