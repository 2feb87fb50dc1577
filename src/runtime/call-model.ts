import { tellHook } from "../errors/call-hook.ts";
import { classifyFailure, envelopeOf } from "../errors/classify.ts";
import type { FailureKind } from "../errors/error-kinds.ts";
import { FROM_MODEL, recordSource } from "../errors/failure-source.ts";
import { cutText, operatorText } from "../errors/thrown.ts";
import { wholeNumber } from "./budget.ts";
import { activeRun, carried } from "./current-run.ts";
import { checkedReport, type ModelReport } from "./model-report.ts";
import type { OpenCall } from "./open-call.ts";
import { checkCallTexts, type RunCore, refuseAt, tracked } from "./open-call.ts";
import { interruptionIn } from "./run-errors.ts";

/** Options of `run.model`. */
export interface ModelOptions {
  /** `gen_ai.provider.name`: `openai`, `anthropic`, … */
  readonly provider?: string | undefined;
  /** Content: the messages. */
  readonly input?: unknown | undefined;
  /** Id of the call, unique within the run. Default: a UUID v7. */
  readonly id?: string | undefined;
}

/** The argument of a model call's function. */
export interface ModelCall {
  /** Aborted when the run ends before the model answered. */
  readonly signal: AbortSignal;
  readonly modelCallId: string;
  /** Reports the first output of a streamed answer. Only the first call counts. */
  firstOutput(): void;
  /** Reports fields of the answer. The last value of each field counts. */
  report(report: ModelReport): void;
}

/** The function of a model call. */
export type ModelFunction<T> = (call: ModelCall) => T | PromiseLike<T>;

/** What the code of one model call reports while it runs. */
class Answer implements ModelCall {
  readonly modelCallId: string;
  readonly #call: OpenCall;
  readonly #wrong: (error: unknown) => void;
  #firstOutputMs: number | undefined;
  #report: ModelReport = {};

  /** @param wrong called with the error of a report that can't be read. */
  constructor(call: OpenCall, modelCallId: string, wrong: (error: unknown) => void) {
    this.#call = call;
    this.#wrong = wrong;
    this.modelCallId = modelCallId;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get firstOutputMs(): number | undefined {
    return this.#firstOutputMs;
  }

  get reported(): ModelReport {
    return this.#report;
  }

  firstOutput(): void {
    this.#firstOutputMs ??= this.#call.elapsedMs();
  }

  report(report: ModelReport): void {
    try {
      this.#report = { ...this.#report, ...report };
    } catch (error) {
      // A client's own object may throw when it is read: the answer must not fail for it.
      this.#wrong(error);
    }
  }
}

/** Calls a model: events, span context, budget. See `AgentRun.model`. */
export function callModel<T>(
  run: RunCore,
  model: string,
  options: ModelOptions,
  fn: ModelFunction<T>,
): Promise<T> {
  return tracked(run, async (call) => {
    checkCallTexts("model", model, { id: options.id, provider: options.provider });
    run.assertOpen(`model ${model}`);
    refuseAt(run, call, run.policy.budget.takeRequest());
    run.track(call);
    const names = { ...run.ids, model_call_id: options.id ?? run.newId(), model };
    call.begin((error, duration_ms) => {
      void run.send({
        type: "model_error",
        ...names,
        ...errorFields(error),
        error: cutText(error),
        duration_ms,
      });
    });
    const { provider, input } = options;
    const sent = run.send({
      type: "model_start",
      ...names,
      ...(provider === undefined ? {} : { provider }),
      ...(input === undefined ? {} : { input }),
    });
    if (sent !== undefined) await sent;
    call.assertNotCut();
    call.restart();
    const wrong = (error: unknown) => tellHook(run.policy.onError, error);
    const answer = new Answer(call, names.model_call_id, wrong);
    let result: T;
    try {
      result = await carried(
        run.current.sink,
        { model_call_id: names.model_call_id },
        currentIn(run),
        async () => fn(answer),
      );
    } catch (error) {
      if (!call.isCut) await fail(run, call, names, error);
      throw error;
    }
    call.assertNotCut();
    await complete(run, call, names, answer);
    return result;
  });
}

type Names = RunCore["ids"] & { readonly model_call_id: string; readonly model: string };

/** A model that is called in a tool is called there: sub-agents that it starts belong to the tool. */
function currentIn(run: RunCore): RunCore["current"] {
  const here = activeRun();
  const isOurs = here?.runId === run.current.runId && here.tenantId === run.current.tenantId;
  return isOurs ? here : run.current;
}

async function complete(run: RunCore, call: OpenCall, names: Names, answer: Answer): Promise<void> {
  const duration_ms = call.end();
  const { firstOutputMs } = answer;
  const report = checkedReport(answer.reported, (error) => tellHook(run.policy.onError, error));
  const sent = run.send({
    type: "model_complete",
    ...names,
    duration_ms,
    ...(firstOutputMs === undefined ? {} : { first_output_ms: firstOutputMs }),
    ...report,
  });
  if (report.usage != null) {
    const input = wholeNumber(report.usage.input_tokens) ?? 0n;
    const output = wholeNumber(report.usage.output_tokens) ?? 0n;
    refuseAt(run, call, run.policy.budget.addTokens(input, output));
  }
  if (sent !== undefined) await sent;
}

async function fail(run: RunCore, call: OpenCall, names: Names, error: unknown): Promise<void> {
  const duration_ms = call.end();
  recordSource(error, FROM_MODEL, { rootRunId: run.current.rootRunId, since: call.since });
  const sent = run.send({ type: "model_error", ...names, ...errorFields(error), duration_ms });
  const interruption = interruptionIn(error);
  if (interruption !== undefined) return run.pause(interruption);
  if (sent !== undefined) await sent;
}

function errorFields(error: unknown) {
  return {
    error: operatorText(error),
    envelope: envelopeOf(error, FROM_MODEL),
    kind: kindOf(error),
  };
}

/** A pause is no failure, so it has no kind, and it is not warned of. */
function kindOf(error: unknown): FailureKind {
  return interruptionIn(error) === undefined
    ? classifyFailure(error, FROM_MODEL)
    : { type: "unclassified" };
}
