import { AgentError, FROM_RUN, sourceOf } from "../../events/door.ts";
import { PAUSED, replacementText, textOf } from "../core/door.ts";
import { thrownOf } from "./errors.ts";
import type { MastraSpan } from "./mastra-span.ts";
import { keepError, type OpenStep, type RunState, type SpanScope } from "./run-state.ts";

/** Follows the steps of workflows. */
export class WorkflowSteps {
  started(span: MastraSpan, { run, step: around, tool }: SpanScope): SpanScope {
    const { fields } = span;
    const callId = tool?.key ?? tool?.toolUseId;
    const step: OpenStep = {
      spanId: span.id,
      stepId: run.writer.newId(),
      step: textOf(fields.entityId) ?? textOf(fields.entityName) ?? "step",
      startedMs: performance.now(),
      details: {
        ...(around === undefined ? {} : { step_id: around.stepId }),
        ...(callId === undefined ? {} : { tool_use_id: callId }),
      },
      error: undefined,
    };
    run.steps.add(step);
    run.writer.stepStarted(step);
    return { run, step, tool };
  }

  /** The step's code threw an error. Mastra may retry the step. */
  threw(run: RunState, step: OpenStep, thrown: unknown): void {
    step.error = { thrown };
    keepError(run, thrown);
  }

  ended(span: MastraSpan, { run, step }: SpanScope): void {
    if (step === undefined || !run.steps.delete(step)) return;
    const { attributes, errorInfo } = span;
    if (errorInfo !== undefined) {
      this.#failed(run, step, step.error?.thrown ?? thrownOf(errorInfo, run.errors));
    } else if (attributes.status === "suspended") this.#failed(run, step, PAUSED);
    else if (attributes.status === "canceled") this.#failed(run, step, AgentError.cancelled());
    else run.writer.stepCompleted(step);
  }

  #failed(run: RunState, step: OpenStep, thrown: unknown): void {
    const scope = { rootRunId: run.active.rootRunId, since: run.since };
    const source = sourceOf(thrown, scope) ?? FROM_RUN;
    run.writer.stepFailed(step, { thrown, source, text: replacementText(thrown) });
  }

  cutAll(run: RunState, error: AgentError): void {
    for (const step of run.steps) this.#failed(run, step, error);
    run.steps.clear();
  }
}
