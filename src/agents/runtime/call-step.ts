import {
  checkOneOf,
  cutText,
  exceptionDetails,
  FROM_RUN,
  operatorText,
  sourceOf,
  toolEnvelopeOf,
} from "../../events/door.ts";
import { carried, currentIn } from "./active-run.ts";
import { checkCallTexts, type OpenCall, type RunCore, tracked } from "./open-call.ts";

/** Options of `run.step`. */
export interface StepOptions {
  /** `retrieval`: the step looks documents up, and the function's result is recorded. Default `step`. */
  readonly kind?: "step" | "retrieval" | undefined;
  /** Content: the query of a retrieval. */
  readonly input?: unknown | undefined;
}

/** The function of a step. */
export type StepFunction<T> = () => T | PromiseLike<T>;

/** Runs code as a step, with events and span context. See `AgentRun.step`. */
export function callStep<T>(
  run: RunCore,
  name: string,
  options: StepOptions,
  fn: StepFunction<T>,
): Promise<T> {
  return tracked(run, async (call) => {
    checkCallTexts("step", name, {});
    checkOneOf(options.kind, "kind", ["step", "retrieval"]);
    run.assertOpen(`step ${name}`);
    run.track(call);
    // A call or step of this run around the new step.
    const around = currentIn(run.current);
    const { run_id, tenant_id } = run.ids;
    const names = { run_id, tenant_id, step_id: run.newId(), step: name };
    const { input, kind } = options;
    const details = around.toolUseId === undefined ? undefined : { tool_use_id: around.toolUseId };
    call.begin((error, duration_ms) => {
      const problem = { error: cutText(error), envelope: toolEnvelopeOf(error, FROM_RUN) };
      void run.send({ type: "step_error", ...names, ...problem, duration_ms });
    });
    const start = {
      ...names,
      ...(kind === undefined ? {} : { kind }),
      ...(input === undefined ? {} : { input }),
    };
    const sent = run.send({ type: "step_start", ...start }, details);
    if (sent !== undefined) await sent;
    call.assertNotCut();
    call.restart();
    let output: T;
    try {
      const current = { ...around, stepId: names.step_id };
      const target = { step_id: names.step_id, tool_use_id: around.toolUseId };
      output = await carried(run.current.sink, target, current, async () => fn());
    } catch (error) {
      if (!call.isCut) await fail(run, call, names, error);
      throw error;
    }
    call.assertNotCut();
    const duration_ms = call.end();
    const found = kind === "retrieval" ? { output: output ?? null } : {};
    await run.send({ type: "step_complete", ...names, duration_ms, ...found });
    return output;
  });
}

/** Reports that the step failed or paused. The calling code decides whether the run fails. */
async function fail(
  run: RunCore,
  call: OpenCall,
  names: RunCore["ids"] & { readonly step_id: string; readonly step: string },
  error: unknown,
): Promise<void> {
  const duration_ms = call.end();
  const scope = { rootRunId: run.current.rootRunId, since: call.since };
  const envelope = toolEnvelopeOf(error, sourceOf(error, scope) ?? FROM_RUN);
  const text = operatorText(error);
  const event = { type: "step_error", ...names, error: text, envelope, duration_ms } as const;
  await run.send(event, exceptionDetails(error));
}
