import { parseArgs } from "node:util";
import type { Command } from "./command.ts";
import {
  checkEndpoint,
  checkMetricsEndpoint,
  checkReplayEndpoint,
} from "./doctor/check-endpoints.ts";
import { checkEnvironment } from "./doctor/check-environment.ts";
import { canSendMetrics, checkPackages, installedPackages } from "./doctor/check-packages.ts";
import { type Finding, note, printFinding } from "./doctor/finding.ts";
import { inspectSetup, LOADING_S } from "./doctor/inspect-setup.ts";
import { httpUrl, LIVE_PORT, REPLAY_PORT } from "./endpoints.ts";
import { countOption } from "./services/options.ts";
import { counted } from "./terminal/table.ts";

const OPTIONS = {
  endpoint: {
    type: "string",
    value: "URL",
    about:
      "Receiver to check. Default: that in the code of --import, else from the OTEL_* variables.",
  },
  "replay-endpoint": {
    type: "string",
    value: "URL",
    about: `Receiver of replays to check. Default: port ${REPLAY_PORT} of a receiver on ${LIVE_PORT}, reported only if it takes spans.`,
  },
  import: {
    type: "string",
    value: "FILE",
    about:
      "File of the application that sets up tracing. A separate process loads it to check its provider and its endpoint.",
  },
  "import-timeout": {
    type: "string",
    value: "S",
    about: `Time limit for loading FILE, in s. Default: ${LOADING_S}.`,
  },
} as const;

/** Finds out why traces and metrics do not arrive, or have other IDs. */
export const doctor: Command = {
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "Run it in the application's directory: packages are searched below the current directory. It sends one empty request for spans, one for metrics, and one to the receiver of replays.",
    "Exit code: 0 no problems, 2 problems found, 1 the command failed.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { endpoint, "replay-endpoint": replay } = values;
    if (endpoint !== undefined) httpUrl("--endpoint", endpoint);
    if (replay !== undefined) httpUrl("--replay-endpoint", replay);
    const loadingS = countOption("--import-timeout", values["import-timeout"], LOADING_S, 1, 3_600);
    let problems = 0;
    const print = (findings: readonly Finding[]) => {
      for (const finding of findings) printFinding(finding, io.out);
      problems += findings.filter(({ level }) => level === "problem").length;
    };
    const inspecting =
      values.import === undefined ? undefined : inspectSetup(values.import, loadingS);
    // Its error is thrown below, after the other findings.
    inspecting?.catch(() => {});
    const directory = process.cwd();
    const installed = await installedPackages(directory);
    print(checkPackages(installed, directory));
    print(await checkEnvironment(io.env));
    const setup = await inspecting?.catch(() => undefined);
    const receiver = {
      url: endpoint ?? setup?.endpoint,
      headers: setup?.headers ?? {},
      isInCode: endpoint === undefined && setup?.endpoint !== undefined,
    };
    const spans = await checkEndpoint(receiver, io.env);
    print(spans.findings);
    const [metrics, replays] = await Promise.all([
      checkMetricsEndpoint(receiver, io.env, spans, canSendMetrics(installed)),
      checkReplayEndpoint(replay, spans.url),
    ]);
    print([...metrics, ...replays]);
    const inspected = await inspecting;
    print(inspected?.findings ?? [NOT_CHECKED]);
    if (inspected?.isOurs === false) print([NOT_OURS]);
    io.out.line();
    io.out.line(problems === 0 ? "All is well." : `${counted(problems, "problem")} found.`);
    return problems === 0 ? 0 : 2;
  },
};

const NOT_CHECKED = note(
  "id generator, and an `endpoint` in the code, which overrides the variables: not checked. Use --import FILE to load the application's setup.",
);
const NOT_OURS = note(
  "FILE has no setup of this package: if its code names an endpoint, that one was not checked",
);
