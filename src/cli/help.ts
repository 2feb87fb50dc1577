import { highest } from "../events/format/door.ts";
import type { Command, ListedCommand, OptionSpec } from "./command.ts";

const COLUMNS = 84;

/** What `entelix-otel --help` prints. */
export function overview(commands: readonly ListedCommand[]): string[] {
  return [
    "entelix-otel: agent lifecycle events as OpenTelemetry traces and an audit log",
    "",
    "Usage: entelix-otel COMMAND …",
    "",
    ...listed(commands.map((command) => [command.name, command.summary])),
    "",
    "Run entelix-otel COMMAND --help for details. --version prints the version.",
    "Colours are off if the output is piped or NO_COLOR is set.",
  ];
}

/** What `entelix-otel COMMAND --help` prints. */
export function helpOf({ name, summary }: ListedCommand, command: Command): string[] {
  const options = Object.entries(command.options);
  const operands = command.operands === "" ? "" : ` ${command.operands}`;
  return [
    `Usage: entelix-otel ${name}${operands}${options.length === 0 ? "" : " [options]"}`,
    "",
    ...wrap(summary, COLUMNS),
    "",
    ...listed([
      ...options.map(([name, spec]): [string, string] => [flag(name, spec), spec.about]),
      ["-h, --help", "Show this help."],
    ]),
    ...command.notes.flatMap((note) => ["", ...wrap(note, COLUMNS)]),
  ];
}

function flag(name: string, spec: OptionSpec): string {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const value = spec.optional === undefined ? spec.value : `[${spec.value}]`;
  return `${short}--${name}${value === undefined ? "" : ` ${value}`}`;
}

function listed(items: readonly (readonly [string, string])[]): string[] {
  const width = highest(items.map(([name]) => name.length));
  return items.flatMap(([name, about]) =>
    wrap(about, COLUMNS - width - 4).map(
      (line, at) => `  ${(at === 0 ? name : "").padEnd(width)}  ${line}`,
    ),
  );
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}
