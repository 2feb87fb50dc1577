import { parseArgs } from "node:util";
import type { Command, Io } from "./command.ts";
import { type ApplicationApi, loadApplication } from "./doctor/application-api.ts";
import { checkEndpoint } from "./doctor/check-endpoint.ts";
import { checkEnvironment } from "./doctor/check-environment.ts";
import { checkPackages } from "./doctor/check-packages.ts";
import { checkProvider } from "./doctor/check-provider.ts";
import { type Finding, note, printFinding } from "./doctor/finding.ts";
import { httpUrl } from "./jaeger.ts";
import { counted } from "./terminal/figures.ts";

const OPTIONS = {
  endpoint: {
    type: "string",
    value: "URL",
    about: "Ask this receiver. Default: where the OTEL_* variables point.",
  },
  import: {
    type: "string",
    value: "FILE",
    about: "The application's own tracing setup: it is loaded, and its provider looked at.",
  },
} as const;

/** Finds out why traces do not arrive, or not with the ids they should have. */
export const doctor: Command = {
  name: "doctor",
  summary: "Check the tracing setup: receiver, id generator, sampler, packages, variables.",
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "Packages are looked for below the current directory: run it in the application's own. Nothing is sent but one empty request.",
    "Exit code: 0 all is well, 2 something is to be put right, 1 it could not run.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    if (values.endpoint !== undefined) httpUrl("--endpoint", values.endpoint);
    let problems = 0;
    const print = (findings: readonly Finding[]) => {
      for (const finding of findings) printFinding(finding, io.out);
      problems += findings.filter(({ level }) => level === "problem").length;
    };
    print(await checkPackages(process.cwd()));
    print(await checkEnvironment(io.env));
    print([await checkEndpoint(values.endpoint, io.env)]);
    // Last: from here on it is no longer this command's process alone.
    const loaded = values.import === undefined ? undefined : await loadApplication(values.import);
    print(provider(loaded));
    io.out.line();
    io.out.line(problems === 0 ? "All is well." : `${counted(problems, "thing")} to put right.`);
    const code = problems === 0 ? 0 : 2;
    if (loaded !== undefined) leave(io, code);
    return code;
  },
};

function provider(loaded: ApplicationApi | undefined): Finding[] {
  if (loaded !== undefined) return checkProvider(loaded.api);
  return [note("id generator: not looked at; --import FILE loads the application's setup")];
}

/** What the application has started (servers, timers) would keep the process alive. */
function leave({ stdout }: Io, code: number): void {
  stdout.write("", () => process.exit(code));
}
