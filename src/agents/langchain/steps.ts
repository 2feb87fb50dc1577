import { FROM_RUN, sourceMoment, sourceOf } from "../../events/door.ts";
import { fieldsOf, listOf, PAUSED, textOf } from "../core/door.ts";
import { eventOf } from "./event-ids.ts";
import { callFailureOf, signalOf } from "./langchain-errors.ts";
import { thrownPause } from "./pauses.ts";
import { type KnownScope, madeIn, type StepScope } from "./scope.ts";

/** Data of a step's start. */
export interface StepStart extends Pick<StepScope, "kind" | "id" | "run" | "step"> {
  /** The scope around it. `undefined`: none. */
  readonly above: KnownScope | undefined;
}

/**
 * A node or a retriever starts.
 *
 * @param query of a retriever. A node's input is not sent, because it is the graph's whole state.
 */
export function stepStarted({ above, id, kind, run, step }: StepStart, query?: unknown): StepScope {
  const { key, stepId, toolUseId } = above ?? {};
  const scope: StepScope = {
    kind,
    id,
    run,
    toolUseId,
    key,
    stepId: id,
    step,
    startedMs: performance.now(),
    since: sourceMoment(),
    alone: above === undefined,
  };
  const started = {
    stepId: id,
    step,
    kind: kind === "node" ? undefined : ("retrieval" as const),
    startedMs: scope.startedMs,
    details: stepId === undefined ? madeIn(above) : { ...madeIn(above), step_id: stepId },
  };
  run.writer.stepStarted(started, query, eventOf(id, "call-start"));
  return scope;
}

/**
 * Nothing is sent after the end of the run.
 *
 * @param documents of a retriever. A node's output is not sent.
 */
export function stepCompleted(scope: StepScope, documents?: unknown): void {
  if (scope.run.ended) return;
  const output = scope.kind === "node" ? undefined : conventionalDocuments(documents);
  scope.run.writer.stepCompleted(endOf(scope), output, eventOf(scope.id, "call-end"));
}

/** The step threw an error, a pause or a handover. */
export function stepThrew(scope: StepScope, thrown: unknown): void {
  const { run } = scope;
  if (run.ended) return;
  const isPause = thrownPause(run, thrown) !== undefined;
  if (!isPause && signalOf(thrown) === "handover") {
    stepCompleted(scope);
    return;
  }
  if (!isPause && scope.kind === "node") run.asked.threw(run, scope.id, thrown, scope.id);
  const source = sourceOf(thrown, { rootRunId: run.rootId, since: scope.since }) ?? FROM_RUN;
  const failure = isPause
    ? { thrown: PAUSED, source: FROM_RUN }
    : callFailureOf(thrown, source, run.stops.errorFor(thrown));
  run.writer.stepFailed(endOf(scope), failure, eventOf(scope.id, "call-end"));
}

function endOf({ startedMs, step, stepId }: StepScope) {
  return { startedMs, step, stepId };
}

/** Documents in the conventions' form: LangChain's `pageContent` becomes `content`. */
function conventionalDocuments(documents: unknown): unknown {
  return listOf(documents)?.map((document) => {
    const fields = fieldsOf(document);
    const content = fields?.pageContent;
    if (fields === undefined || content === undefined) return document;
    const id = textOf(fields.id);
    return { ...(id === undefined ? {} : { id }), content, metadata: fields.metadata ?? null };
  });
}

/** Tag of LangGraph and LangChain for internal chains. */
const HIDDEN = "langsmith:hidden";

/** The node's name of a chain inside a graph. `undefined` for internal chains: start, channel writes, branches. */
export function nodeName(metadata: unknown, runName: unknown, tags: unknown): string | undefined {
  const name = textOf(runName);
  if (name === undefined || name === "__start__") return undefined;
  if (fieldsOf(metadata)?.langgraph_node !== name) return undefined;
  return listOf(tags)?.includes(HIDDEN) === true ? undefined : name;
}
