import type { RunOutcome } from "../format.ts";

/** How the page shows an outcome: a sign, so that colour is not needed, and the meaning of the word. */
export interface OutcomeLook {
  /** Chooses the colours. */
  readonly tone: "good" | "bad" | "waits" | "unsure" | "plain";
  readonly sign: string;
  readonly meaning: string;
}

const LOOKS: Readonly<Record<string, OutcomeLook>> = {
  complete: { tone: "good", sign: "✓", meaning: "The run ended with a result." },
  failed: { tone: "bad", sign: "✕", meaning: "An error ended the run." },
  refused: { tone: "unsure", sign: "⊘", meaning: "The model refused the request." },
  interrupted: {
    tone: "waits",
    sign: "‖",
    meaning: "The run is paused until somebody resumes it.",
  },
  abandoned: {
    tone: "unsure",
    sign: "?",
    meaning: "The run has no end: its process stopped or its events are missing.",
  },
  open: { tone: "plain", sign: "…", meaning: "The run has not ended yet." },
};

/** Outcomes in the order of the filter. Unknown ones come last. */
export const OUTCOMES: readonly string[] = Object.keys(LOOKS);

/** Unknown outcomes, which newer versions may have, look plain. */
export function lookOf(outcome: RunOutcome): OutcomeLook {
  return (
    (Object.hasOwn(LOOKS, outcome) ? LOOKS[outcome] : undefined) ?? {
      tone: "plain",
      sign: "•",
      meaning: "This version does not know this outcome.",
    }
  );
}
