import { v7 } from "uuid";
import { freshRun, happening } from "./events.ts";
import { Player } from "./player.ts";
import type { Stack } from "./stack.ts";
import { untilHolds } from "./until.ts";

/** On a machine that is busy a scrape or an evaluation may be missed, and a word with it. */
const ATTEMPTS = 3;

/**
 * Resolves when whatever was to be told of what the collector has taken so far has been told: a
 * failure that is sent now has been delivered, by the slowest way there is. Spans are read later than
 * events, and no route waits longer than that of `info`.
 */
export async function lastWord(stack: Stack): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await oneWord(stack);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Whether an alert is of a last word, also of one that came too late. */
export function isLastWord({ job }: Readonly<Record<string, string>>): boolean {
  return job?.startsWith(LAST_WORD) === true;
}

const LAST_WORD = "last-word-";

async function oneWord(stack: Stack): Promise<void> {
  const serviceName = LAST_WORD + v7();
  const player = new Player({ options: { serviceName, endpoint: stack.endpoint } });
  // Of a tenant of its own, for it is not to be told with what went before.
  const run = freshRun(serviceName);
  player.tell([run.started(), run.failed({ kind: { type: "cancelled" } })].map(happening));
  await player.end();
  await untilHolds("the last word was delivered", () => {
    const told = stack.webhook.alerts.filter(({ labels }) => labels.job === serviceName);
    if (told.length === 0) throw new Error("not yet");
  });
}

/** Resolves when Prometheus scrapes the collector: only then is a series seen from its birth on. */
export function scraped(stack: Stack): Promise<boolean> {
  return untilHolds("Prometheus scrapes the collector", async () => {
    if ((await stack.prometheus.value('up{job="entelix"}')) !== 1) throw new Error("not yet");
  });
}
