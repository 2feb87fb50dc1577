import {
  among,
  checkEach,
  checkedElsewhere,
  cutOf,
  FROM_RUN,
  type OptionChecks,
  sourceOf,
} from "../../events/door.ts";
import type { Step } from "../writer/door.ts";
import { carried, currentIn } from "./active-run.ts";
import { checkCallTexts, type OpenCall, type RunCore, tracked } from "./open-call.ts";

/** Options of `run.step`. */
export interface StepOptions {
  /** `retrieval`: the step looks documents up, and the function's result is recorded. Default `step`. */
  readonly kind?: "step" | "retrieval" | undefined;
  /** Content: the query of a retrieval. */
  readonly input?: unknown | undefined;
}

const CHECKS: OptionChecks<StepOptions> = {
  kind: among("step", "retrieval"),
  input: checkedElsewhere,
};

/** The function of a step. */
export type StepFunction<T> = () => T | PromiseLike<T>;

/** Runs code as a step, with events and span context. See `AgentRun.step`. */
export function callStep<T>(
  run: RunCore,
  name: string,
  given: StepOptions,
  fn: StepFunction<T>,
): Promise<T> {
  return tracked(run, async (call) => {
    checkCallTexts("step", name, {});
    const options = checkEach(given, CHECKS);
    run.assertOpen(`step ${name}`);
    run.track(call);
    // A call or step of this run around the new step.
    const around = currentIn(run.current);
    const { writer } = run;
    const { input, kind } = options;
    const stepId = writer.newId();
    const timed = { startedMs: 0, durationMs: undefined, details: undefined };
    const step = { stepId, step: name, kind, ...timed };
    const callId = around.callKey ?? around.toolUseId;
    const details = callId === undefined ? undefined : { tool_use_id: callId };
    call.begin((error) => void writer.stepCut(step, error), step);
    const sent = writer.stepStarted({ ...step, details }, input);
    if (sent !== undefined) await sent;
    call.assertNotCut();
    call.restart();
    let output: T;
    try {
      const current = { ...around, stepId };
      const target = { step_id: stepId, tool_use_id: callId };
      output = await carried(run.current.sink, target, current, async () => fn());
    } catch (error) {
      if (!call.isCut) await fail(run, call, step, error);
      throw error;
    }
    call.assertNotCut();
    call.end();
    await writer.stepCompleted(step, kind === "retrieval" ? (output ?? null) : undefined);
    return output;
  });
}

/** Reports that the step failed or paused. The calling code decides whether the run fails. */
async function fail(run: RunCore, call: OpenCall, step: Step, error: unknown): Promise<void> {
  call.end();
  const scope = { rootRunId: run.current.rootRunId, since: call.since };
  const cut = cutOf(error, scope);
  const source = sourceOf(error, scope) ?? FROM_RUN;
  await (cut === undefined
    ? run.writer.stepFailed(step, { thrown: error, source })
    : run.writer.stepCut(step, cut));
}
