import { SourceReadError } from "../../replay/door.ts";
import { CliError } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { SPAN_OPTIONS } from "../span-options.ts";
import { safe } from "../terminal/text.ts";
import { BEGINNING_BYTES, begun } from "../traces/span-requests.ts";
import { bytesOf, type InputFile, inputStart } from "./input-files.ts";
import type { Progress } from "./progress.ts";
import type { ReplayJob } from "./replay-job.ts";
import type { SpanReplay } from "./span-replay.ts";

interface Readers {
  /** Takes sources of events. */
  readonly job: ReplayJob;
  /** Takes sources of spans. */
  readonly spans: SpanReplay;
  /** The options of the command. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly progress: Progress;
  readonly io: Io;
  /** Called with a line of text. */
  readonly say: (text: string) => void;
}

/**
 * Reads the sources in turn: events into the job, spans into their replay.
 *
 * @returns the names of the sources that cannot be read to their end. Their earlier lines are replayed.
 * @throws CliError for a source of spans with `--audit`.
 */
export async function readSources(
  inputs: readonly InputFile[],
  { io, job, progress, say, spans, values }: Readers,
): Promise<string[]> {
  const unreadable: string[] = [];
  let isNoted = false;
  for (const input of inputs) {
    const { name } = input;
    const bytes = bytesOf(input, io, (count) => progress.addBytes(count));
    const { isSpans, text } = await begun(bytes);
    if (isSpans) {
      checkSpansWanted(name, values);
      const note = isNoted ? undefined : withoutEffect(values);
      if (note !== undefined) say(`${name}: ${note}`);
      isNoted = true;
    }
    const problem = isSpans ? await spans.read(name, text) : await readEvents(job, name, text);
    if (problem === undefined) continue;
    unreadable.push(name);
    say(problem);
  }
  return unreadable;
}

/** @returns why the source cannot be read to its end. */
async function readEvents(
  job: ReplayJob,
  name: string,
  text: AsyncIterable<Buffer>,
): Promise<string | undefined> {
  try {
    await job.read(name, text);
    return undefined;
  } catch (error) {
    if (!(error instanceof SourceReadError)) throw error;
    return error.message;
  }
}

/** @throws CliError for a file of spans with `--audit`, before anything is written. */
export async function checkInputs(
  inputs: readonly InputFile[],
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (values.audit === undefined) return;
  for (const input of inputs) {
    const start = inputStart(input, BEGINNING_BYTES);
    if (start === undefined) continue;
    const { isSpans, text } = await begun(start);
    // One step, so that the file is closed. Reading it later reports what is damaged.
    await text.next().catch(() => {});
    await text.return();
    if (isSpans) checkSpansWanted(input.name, values);
  }
}

function checkSpansWanted(name: string, { audit }: Readonly<Record<string, unknown>>): void {
  if (audit === undefined) return;
  throw new CliError(
    `--audit: expected recorded events, got spans (${safe(name)}): audit rows are not made from spans`,
    "Replay the recording of these runs with --audit, and the spans without it.",
  );
}

/** Options that change spans that are made from events. */
const OF_EVENTS = ["dialect", "tenant", "service-name", ...Object.keys(SPAN_OPTIONS)];

function withoutEffect(values: Readonly<Record<string, unknown>>): string | undefined {
  const given = OF_EVENTS.filter((option) => values[option] !== undefined);
  if (given.length === 0) return undefined;
  const options = given.map((option) => `--${option}`).join(", ");
  return `spans are replayed unchanged, without effect of ${options}`;
}
