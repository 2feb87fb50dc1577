import {
  callErrorHook,
  classifyFailure,
  cutText,
  describe,
  type EventDetails,
  envelopeOf,
  exceptionDetails,
  type FailureKind,
  FROM_MODEL,
  type ModelParameters,
  operatorText,
  outputMessages,
  recordSource,
  toMessages,
} from "../../events/door.ts";
import { isZeroCost } from "../writer/door.ts";
import { carried, currentIn } from "./active-run.ts";
import { parametersIn } from "./model-parameters.ts";
import { checkedReport, type ModelReport } from "./model-report.ts";
import type { OpenCall } from "./open-call.ts";
import { checkCallTexts, type RunCore, refuseAt, tracked } from "./open-call.ts";
import { costOf } from "./price.ts";
import { interruptionIn } from "./run-errors.ts";
import { serverOf } from "./server-address.ts";

/** Options of `run.model`. */
export interface ModelOptions {
  /** `gen_ai.provider.name`: `openai`, `anthropic`, … */
  readonly provider?: string | undefined;
  /** Parameters of the request (`gen_ai.request.*`). Invalid values are omitted. */
  readonly parameters?: ModelParameters | undefined;
  /**
   * Server of the model, for `server.address` and `server.port`: a host, a host with its port, or the client's base
   * URL. Only host and port of a URL are used. Default: not known.
   */
  readonly serverAddress?: string | undefined;
  /** Content: the messages, in any form that `toMessages` reads. */
  readonly input?: unknown | undefined;
  /** ID of the call, unique within the run. Default: a UUID v7. */
  readonly id?: string | undefined;
}

/** The argument of a model call's function. */
export interface ModelCall {
  /** Aborted when the run ends before the model's answer. */
  readonly signal: AbortSignal;
  readonly modelCallId: string;
  /** Reports the first output of a streamed answer. Only the first call counts. */
  firstOutput(): void;
  /** Reports fields of the answer. The last value of each field counts. */
  report(report: ModelReport): void;
}

/** The function of a model call. */
export type ModelFunction<T> = (call: ModelCall) => T | PromiseLike<T>;

/** Collects the reports of one model call. */
class Answer implements ModelCall {
  readonly modelCallId: string;
  readonly #call: OpenCall;
  readonly #wrong: (error: unknown) => void;
  #firstOutputMs: number | undefined;
  #report: ModelReport = {};

  /** @param wrong called with the error of an unreadable report. */
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
      // A client's object may throw when it is read. The answer must not fail because of it.
      this.#wrong(error);
    }
  }
}

/** Calls a model, with events, span context and budget. See `AgentRun.model`. */
export function callModel<T>(
  run: RunCore,
  model: string,
  options: ModelOptions,
  fn: ModelFunction<T>,
): Promise<T> {
  return tracked(run, async (call) => {
    const { id, input, parameters: given, provider, serverAddress } = options;
    checkCallTexts("model", model, { id, provider, serverAddress });
    checkParameters(model, given);
    run.assertOpen(`model ${model}`);
    refuseAt(run, call, run.policy.budget.takeRequest());
    run.track(call);
    const { run_id, tenant_id } = run.ids;
    const names = { run_id, tenant_id, model_call_id: id ?? run.newId(), model };
    call.begin((error, duration_ms) => {
      void run.send({
        type: "model_error",
        ...names,
        ...errorFields(error),
        error: cutText(error),
        duration_ms,
      });
    });
    const parameters = given === undefined ? undefined : parametersIn(given);
    const sent = run.send({
      type: "model_start",
      ...names,
      ...(provider === undefined ? {} : { provider }),
      ...serverOf(serverAddress),
      ...(parameters === undefined ? {} : { parameters }),
      ...(input === undefined ? {} : { input: toMessages(input) }),
    });
    if (sent !== undefined) await sent;
    call.assertNotCut();
    call.restart();
    const wrong = (error: unknown) => callErrorHook(run.policy.onError, error);
    const answer = new Answer(call, names.model_call_id, wrong);
    let result: T;
    try {
      result = await carried(
        run.current.sink,
        { model_call_id: names.model_call_id },
        // A model call inside a tool belongs to the tool, and so do sub-agents that it starts.
        currentIn(run.current),
        async () => fn(answer),
      );
    } catch (error) {
      if (!call.isCut) await fail(run, call, names, error);
      throw error;
    }
    call.assertNotCut();
    await complete(run, call, names, answer, provider, result);
    return result;
  });
}

/** @throws TypeError unless it is an object or undefined. */
function checkParameters(model: string, parameters: unknown): void {
  if (parameters === undefined || (typeof parameters === "object" && parameters !== null)) return;
  throw new TypeError(
    `model ${model}: expected parameters to be an object, got ${describe(parameters)}`,
  );
}

type Names = RunCore["ids"] & { readonly model_call_id: string; readonly model: string };

async function complete(
  run: RunCore,
  call: OpenCall,
  names: Names,
  answer: Answer,
  provider: string | undefined,
  result: unknown,
): Promise<void> {
  const duration_ms = call.end();
  const { firstOutputMs } = answer;
  const { budget, onError, price } = run.policy;
  const report = checkedReport(answer.reported, (error) => callErrorHook(onError, error));
  const { output, usage, response_model } = report;
  // A returned text is the answer, unless the report has one.
  const isAnswer = output === undefined && typeof result === "string" && result !== "";
  const responseModel = response_model ?? undefined;
  const cost =
    usage == null
      ? undefined
      : costOf(price, { provider, model: names.model, responseModel, usage }, onError);
  const sent = run.send(
    {
      type: "model_complete",
      ...names,
      duration_ms,
      ...(firstOutputMs === undefined ? {} : { first_output_ms: firstOutputMs }),
      ...report,
      ...(isAnswer ? { output: outputMessages(result, report.finish_reasons) } : {}),
      ...(cost === undefined ? {} : { cost_usd: cost }),
    },
    cost !== undefined && isZeroCost(cost) ? COST_KNOWN : undefined,
  );
  if (usage != null) {
    const exceeded = budget.addUsage(usage);
    // Count both before one of them ends the run.
    const overspent = cost === undefined ? undefined : budget.addCost(cost);
    refuseAt(run, call, exceeded ?? overspent);
  }
  if (sent !== undefined) await sent;
}

/** Marks a cost of zero as known. */
const COST_KNOWN: EventDetails = { cost_known: true };

async function fail(run: RunCore, call: OpenCall, names: Names, error: unknown): Promise<void> {
  const duration_ms = call.end();
  recordSource(error, FROM_MODEL, { rootRunId: run.current.rootRunId, since: call.since });
  const event = { type: "model_error", ...names, ...errorFields(error), duration_ms } as const;
  const sent = run.send(event, exceptionDetails(error));
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

/** A pause is not a failure, so it is not classified. The classifier would warn. */
function kindOf(error: unknown): FailureKind {
  return interruptionIn(error) === undefined
    ? classifyFailure(error, FROM_MODEL)
    : { type: "unclassified" };
}
