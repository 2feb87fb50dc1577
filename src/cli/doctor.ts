import { parseArgs } from "node:util";
import type { Command, Io } from "./command.ts";
import { type ApplicationApi, LOADING_S, loadApplication } from "./doctor/application-api.ts";
import { checkEndpoint } from "./doctor/check-endpoint.ts";
import { checkEnvironment } from "./doctor/check-environment.ts";
import { checkMetricsEndpoint } from "./doctor/check-metrics-endpoint.ts";
import { canSendMetrics, checkPackages } from "./doctor/check-packages.ts";
import { checkProvider } from "./doctor/check-provider.ts";
import { checkReplayEndpoint } from "./doctor/check-replay-endpoint.ts";
import { type Finding, note, printFinding } from "./doctor/finding.ts";
import { installedPackages } from "./doctor/installed-packages.ts";
import { httpUrl } from "./jaeger.ts";
import { LIVE_PORT, REPLAY_PORT } from "./ports.ts";
import { showError } from "./show-error.ts";
import { counted } from "./terminal/figures.ts";

const OPTIONS = {
  endpoint: {
    type: "string",
    value: "URL",
    about: "Ask this receiver. Default: where the OTEL_* variables point.",
  },
  "replay-endpoint": {
    type: "string",
    value: "URL",
    about: `Ask this receiver of replays. Default: port ${REPLAY_PORT} beside a receiver on ${LIVE_PORT}.`,
  },
  import: {
    type: "string",
    value: "FILE",
    about: `The application's own tracing setup: it is loaded, in at most ${LOADING_S} s, and its provider looked at.`,
  },
} as const;

/** Finds out why traces and metrics do not arrive, or not with the ids they should have. */
export const doctor: Command = {
  name: "doctor",
  summary:
    "Check the setup of traces and metrics: receivers, id generator, sampler, packages, variables.",
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "Packages are looked for below the current directory: run it in the application's own. Nothing is sent but one empty request for spans, one for metrics, and one to the receiver of replays.",
    "Exit code: 0 all is well, 2 something is to be put right, 1 it could not run.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { endpoint, "replay-endpoint": replay } = values;
    if (endpoint !== undefined) httpUrl("--endpoint", endpoint);
    if (replay !== undefined) httpUrl("--replay-endpoint", replay);
    let problems = 0;
    const print = (findings: readonly Finding[]) => {
      for (const finding of findings) printFinding(finding, io.out);
      problems += findings.filter(({ level }) => level === "problem").length;
    };
    const directory = process.cwd();
    const installed = await installedPackages(directory);
    print(checkPackages(installed, directory));
    print(await checkEnvironment(io.env));
    const spans = await checkEndpoint(endpoint, io.env);
    print(spans.findings);
    const [metrics, replays] = await Promise.all([
      checkMetricsEndpoint(endpoint, io.env, spans, canSendMetrics(installed)),
      checkReplayEndpoint(replay, spans.url),
    ]);
    print([...metrics, ...replays]);
    // Last: from here on it is no longer this command's process alone.
    const loaded = values.import === undefined ? undefined : await load(values.import, io);
    print(provider(loaded));
    io.out.line();
    io.out.line(problems === 0 ? "All is well." : `${counted(problems, "thing")} to put right.`);
    const code = problems === 0 ? 0 : 2;
    if (loaded !== undefined) leave(io, code);
    return code;
  },
};

async function load(file: string, io: Io): Promise<ApplicationApi> {
  try {
    return await loadApplication(file, (error) => showError(error, io));
  } catch (error) {
    leave(io, 1);
    throw error;
  }
}

function provider(loaded: ApplicationApi | undefined): Finding[] {
  if (loaded !== undefined) return checkProvider(loaded.api);
  return [note("id generator: not looked at; --import FILE loads the application's setup")];
}

/** What the application has started (servers, timers) would keep the process alive. */
function leave({ stdout }: Io, code: number): void {
  stdout.write("", () => setImmediate(() => process.exit(code)));
}
