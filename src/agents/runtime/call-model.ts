import {
  callErrorHook,
  checkEach,
  checkedElsewhere,
  checkOneOf,
  describe,
  FROM_MODEL,
  type ModelOperation,
  type ModelParameters,
  type OptionChecks,
  outputMessages,
  recordSource,
  reportUnknown,
} from "../../events/door.ts";
import type { ModelCall as WrittenCall } from "../writer/door.ts";
import { inModelCall } from "./active-run.ts";
import { parametersIn } from "./model-parameters.ts";
import { checkedReport, type ModelReport, REPORT_FIELDS } from "./model-report.ts";
import type { OpenCall } from "./open-call.ts";
import { checkCallTexts, type RunCore, refuseAt, tracked } from "./open-call.ts";
import { costOf } from "./price.ts";
import { interruptionIn } from "./run-errors.ts";
import { serverOf } from "./server-address.ts";

/** Options of `run.model`. */
export interface ModelOptions {
  /** What the model is asked for: an answer, or vectors of texts (`gen_ai.operation.name`). Default `chat`. */
  readonly operation?: ModelOperation | undefined;
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

const CHECKS: OptionChecks<ModelOptions> = {
  operation: checkedElsewhere,
  provider: checkedElsewhere,
  parameters: checkedElsewhere,
  serverAddress: checkedElsewhere,
  input: checkedElsewhere,
  id: checkedElsewhere,
};

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
  asked: ModelOptions,
  fn: ModelFunction<T>,
): Promise<T> {
  return tracked(run, async (call) => {
    const options = checkEach(asked, CHECKS);
    const { id, input, operation, parameters: given, provider, serverAddress } = options;
    checkCallTexts("model", model, { id, provider, serverAddress });
    checkParameters(model, given);
    checkOneOf(operation, `model ${model}: operation`, OPERATIONS);
    run.assertOpen(`model ${model}`);
    refuseAt(run, call, run.policy.budget.takeRequest());
    run.track(call);
    const { writer } = run;
    const modelCallId = id ?? writer.newId();
    const written = {
      modelCallId,
      model,
      provider,
      operation,
      startedMs: 0,
      durationMs: undefined,
      details: undefined,
    };
    const wrong = (error: unknown) => callErrorHook(run.policy.onError, error);
    const answer = new Answer(call, modelCallId, wrong);
    const use = () => usedBy(run, written, answer, provider);
    call.begin((error) => void writer.modelCut(written, error, use()), written);
    const parameters = given === undefined ? undefined : parametersIn(given);
    const request = {
      ...(provider === undefined ? {} : { provider }),
      ...serverOf(serverAddress),
      ...(parameters === undefined ? {} : { parameters }),
    };
    const content = input === undefined ? {} : { input: writer.conversation.messages(input) };
    const sent = writer.modelStarted(written, request, content);
    if (sent !== undefined) await sent;
    call.assertNotCut();
    call.restart();
    let result: T;
    try {
      result = await inModelCall(run.current, written, async () => fn(answer));
    } catch (error) {
      if (!call.isCut) await fail(run, call, written, error, use);
      throw error;
    }
    call.assertNotCut();
    call.end();
    await complete(run, call, written, use(), answer.firstOutputMs, result);
    return result;
  });
}

const OPERATIONS = ["chat", "embeddings"] as const satisfies readonly ModelOperation[];

/** @throws TypeError unless it is an object or undefined. */
function checkParameters(model: string, parameters: unknown): void {
  if (parameters === undefined || (typeof parameters === "object" && parameters !== null)) return;
  throw new TypeError(
    `model ${model}: expected parameters to be an object, got ${describe(parameters)}`,
  );
}

async function complete(
  run: RunCore,
  call: OpenCall,
  written: WrittenCall,
  use: Use,
  firstOutputMs: number | undefined,
  result: unknown,
): Promise<void> {
  const { cost, finishReasons, output, provider, responseId, responseModel, usage } = use;
  // A returned text is the answer, unless the report has one.
  const isAnswer = output === undefined && typeof result === "string" && result !== "";
  const sent = run.writer.modelAnswered(written, {
    provider,
    usage,
    firstOutputMs,
    responseModel,
    responseId,
    finishReasons,
    cost,
    output: isAnswer ? outputMessages(result, finishReasons) : output,
  });
  refuseAt(run, call, use.exceeded);
  if (sent !== undefined) await sent;
}

/** What a call has reported when it ends, with its cost, and the limit that it exceeds. */
type Use = ReturnType<typeof usedBy>;

/** Adds the call to the run's budget, however it ended. */
function usedBy(
  run: RunCore,
  { model }: WrittenCall,
  { reported }: Answer,
  provider: string | undefined,
) {
  const { budget, onError, price } = run.policy;
  reportUnknown(reported, REPORT_FIELDS, "report.", onError);
  const report = checkedReport(reported, (error) => callErrorHook(onError, error));
  const { responseModel, usage } = report;
  if (usage === undefined) return { ...report, cost: undefined, exceeded: undefined };
  const by = report.provider ?? provider;
  const cost = costOf(price, { provider: by, model, responseModel, usage }, onError);
  const exceeded = budget.addUsage(usage);
  // Count both before one of them ends the run.
  const overspent = cost === undefined ? undefined : budget.addCost(cost);
  return { ...report, cost, exceeded: exceeded ?? overspent };
}

async function fail(
  run: RunCore,
  call: OpenCall,
  written: WrittenCall,
  error: unknown,
  use: () => Use,
): Promise<void> {
  call.end();
  recordSource(error, FROM_MODEL, { rootRunId: run.current.rootRunId, since: call.since });
  const interruption = interruptionIn(error);
  // A pause is not a failure, so it is not classified. The classifier would warn.
  const kind = interruption === undefined ? undefined : ({ type: "unclassified" } as const);
  const used = use();
  const sent = run.writer.modelFailed(written, { ...used, thrown: error, kind });
  if (interruption !== undefined) return run.pause(interruption);
  refuseAt(run, call, used.exceeded);
  if (sent !== undefined) await sent;
}
