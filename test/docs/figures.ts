import { AUDIT_FIGURES } from "../audit/support/figures.ts";
import { BRIDGE_FIGURES } from "../bridge/support/figures.ts";
import { CLI_FIGURES } from "../cli/support/figures.ts";
import { EVENT_FIGURES } from "../events/support/figures.ts";
import { REPLAY_FIGURES } from "../replay/support/figures.ts";
import { VIEW_FIGURES } from "../view/support/figures.ts";

/** For each row of `docs/limits.md` the figure that the code has: asked for, or found by using it. */
export const FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  ...EVENT_FIGURES,
  ...AUDIT_FIGURES,
  ...BRIDGE_FIGURES,
  ...REPLAY_FIGURES,
  ...CLI_FIGURES,
  ...VIEW_FIGURES,
};
