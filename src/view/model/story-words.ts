import { durationText } from "../../events/format/door.ts";
import type { ViewDecision, ViewRun } from "../format.ts";

/** What a run's line says after the question. */
export interface StoryLine {
  readonly text: string;
  readonly tone: "plain" | "bad" | "waits";
}

/** Whether it waits for a person. It does not any more if another run continues it. */
export function isWaiting({ outcome, resumed }: ViewRun): boolean {
  return outcome === "interrupted" && resumed !== true;
}

/** How a run went, in one line: why it failed, what it waits for, or who decided and what it answered. */
export function storyLine(run: ViewRun): StoryLine | undefined {
  const { answer, asked, decisions = [], error, outcome } = run;
  const decided = decisions.map(decisionText).join("; ");
  if (outcome === "failed" && error !== undefined) {
    return { text: sentences([decided, error]), tone: "bad" };
  }
  if (isWaiting(run)) {
    const wanted = asked === undefined ? "Waits for a person" : `Waits for a person: ${asked}`;
    return { text: sentences([decided, wanted]), tone: "waits" };
  }
  const text = sentences([decided, outcome === "interrupted" ? waitedText(asked) : answer]);
  return text === "" ? undefined : { text, tone: "plain" };
}

/** What a run waited for that another run continues. */
function waitedText(asked: string | undefined): string {
  return asked === undefined
    ? "Waited for a person, and went on in a later run"
    : `Waited for a person: ${asked}`;
}

function sentences(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(". ");
}

/** `ann@acme.test edited refund after 1.2 s`. If nothing says who decided: `refund was edited after 1.2 s`. */
export function decisionText({ by, outcome, person, tool, wait_ms }: ViewDecision): string {
  const who = person ?? (by === "policy" ? "A rule" : by === "user" ? "A person" : by);
  const after = afterText(wait_ms);
  const call = tool === "" ? "a call" : tool;
  return who === undefined ? `${call} was ${outcome}${after}` : `${who} ${outcome} ${call}${after}`;
}

/** How long a decision took: ` after 1.2 s`; empty if that is not known. */
export function afterText(waitMs: number | undefined): string {
  return waitMs === undefined || waitMs <= 0 ? "" : ` after ${durationText(waitMs)}`;
}
