import { setUnclassifiedWarning } from "../../../src/index.ts";
import type { Family } from "../family.ts";
import {
  carriers,
  type Entrance,
  ERRORS,
  lineEntrances,
  MESSAGES,
  SPANS,
} from "../support/entrances.ts";
import { HOSTILE_TEXTS } from "../support/hostile-texts.ts";
import { DIALECTS } from "../support/valid-lines.ts";
import type { Trial } from "../trial.ts";
import type { Trials } from "../trials.ts";

/** Characters of the shorter and of the longer text. */
const SHORT = 16_000;
const LONG = 4 * SHORT;
/** Less processor time is not looked at, in ms: other families work beside it. */
const NOTHING = 250;
/**
 * What takes the square of the length takes 16 times as much for the longer text. Another family may work beside it.
 */
const MOST_TIMES = 8;

/** Texts at which expressions go slow, in every place where others' texts come in. */
export const expressions: Family = {
  name: "expressions",
  about:
    "texts that make expressions and parsers try again (data: without a comma), at every entrance, in two lengths: never the square of the time",
  async run(trials, size) {
    const each = async (kind: string, all: readonly Entrance[], few: number) => {
      const chosen = size.short ? drawn(trials, kind, all, few) : all;
      await trials.each(
        kind,
        chosen.length,
        async (trial, at) => {
          const entrance = chosen[at];
          if (entrance !== undefined) await takeAll(trial, entrance);
        },
        { boundMs: 300_000 },
      );
    };
    setUnclassifiedWarning(() => {});
    await each("messages", MESSAGES, MESSAGES.length);
    await each("errors", ERRORS, ERRORS.length);
    await each("headers and variables", carriers(), 4);
    await each("spans in OTLP", SPANS, 10);
    for (const dialect of DIALECTS) {
      await each(`fields of lines: ${dialect}`, lineEntrances(dialect), 5);
    }
    setUnclassifiedWarning();
  },
};

function drawn(trials: Trials, kind: string, all: readonly Entrance[], few: number): Entrance[] {
  const random = trials.shared(kind);
  const left = [...all];
  const chosen: Entrance[] = [];
  while (chosen.length < few && left.length > 0) {
    chosen.push(...left.splice(random.below(left.length), 1));
  }
  return chosen;
}

async function takeAll(trial: Trial, entrance: Entrance): Promise<void> {
  for (const [name, make] of Object.entries(HOSTILE_TEXTS)) {
    trial.subject = `${entrance.name} of ${name}`;
    const long = await costOf(entrance, make(LONG));
    trial.accept();
    if (long < NOTHING) continue;
    // The least of three: others' work counts, too.
    const [least, most] = [
      await leastOf(entrance, make(SHORT)),
      await leastOf(entrance, make(LONG)),
    ];
    if (most < NOTHING || most < MOST_TIMES * least) continue;
    const expected = `${trial.subject}: at most ${MOST_TIMES} times as long for 4 times the length`;
    trial.harm(
      "unexpected",
      expected,
      `${least} ms for ${SHORT} characters, ${most} ms for ${LONG}`,
    );
  }
}

async function leastOf(entrance: Entrance, text: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 3; times += 1) least = Math.min(least, await costOf(entrance, text));
  return least;
}

/** Processor time in ms. */
async function costOf(entrance: Entrance, text: string): Promise<number> {
  const before = process.cpuUsage();
  await entrance.take(text);
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1000;
}
