import {
  AgentError,
  type ErrorEnvelope,
  type EventDetails,
  envelopeOf,
  FROM_RUN,
  sourceMoment,
  sourceOf,
  toolEnvelopeOf,
} from "../../events/door.ts";
import { fieldsOf, listOf, type SafeSink, textOf, withDetails } from "../core/door.ts";
import { errorText, exceptionIn, explained, signalOf } from "./langchain-errors.ts";
import { thrownPause } from "./pauses.ts";
import { envelopeIn, eventId, inStep } from "./run-events.ts";
import type { KnownScope, StepScope } from "./scope.ts";

/** The error of a pause, because LangGraph's text would contain the payload. */
const PAUSED = AgentError.interrupted({ type: "custom" });
const PAUSED_ENVELOPE = envelopeOf(PAUSED);

/** Data of a step's start. */
export interface StepStart extends Pick<StepScope, "kind" | "id" | "run" | "name"> {
  /** The scope around it. `undefined`: none. */
  readonly above: KnownScope | undefined;
}

/** Sends the events of nodes and retrievers. Nothing is sent after the end of their run. */
export class StepEvents {
  readonly #sink: SafeSink;

  constructor(sink: SafeSink) {
    this.#sink = sink;
  }

  /**
   * A step starts.
   *
   * @param query of a retriever. A node's input is not sent, because it is the graph's whole state.
   */
  start(from: StepStart, query?: unknown): StepScope {
    const { above, id, kind, name, run } = from;
    const envelope = envelopeIn(run, eventId(id, "call-start"));
    const { stepId, toolUseId } = above ?? {};
    inStep(envelope, stepId);
    if (toolUseId !== undefined) withDetails(envelope, { tool_use_id: toolUseId });
    const step: StepScope = {
      kind,
      id,
      run,
      toolUseId,
      stepId: id,
      name,
      startedMs: performance.now(),
      since: sourceMoment(),
      alone: above === undefined,
    };
    const start = { type: "step_start", ...namesOf(step) } as const;
    const isNode = kind === "node";
    this.#sink.send(isNode ? start : { ...start, kind: "retrieval", input: query }, envelope);
    return step;
  }

  /** @param documents of a retriever. A node's output is not sent. */
  completed(step: StepScope, documents?: unknown): void {
    if (step.run.ended) return;
    const end = { type: "step_complete", ...namesOf(step), duration_ms: sinceMs(step) } as const;
    this.#sink.send(
      step.kind === "node" ? end : { ...end, output: conventionalDocuments(documents) },
      envelopeIn(step.run, eventId(step.id, "call-end")),
    );
  }

  /** The step threw an error, a pause or a handover. */
  threw(step: StepScope, thrown: unknown): void {
    const { run } = step;
    if (run.ended) return;
    if (thrownPause(run, thrown) !== undefined) {
      this.#error(step, PAUSED.message, PAUSED_ENVELOPE);
    } else if (signalOf(thrown) === "handover") this.completed(step);
    else {
      const scope = { rootRunId: run.rootId, since: step.since };
      const source = sourceOf(thrown, scope) ?? FROM_RUN;
      const exception = exceptionIn(thrown);
      const details = exception === undefined ? undefined : { exception };
      this.#error(step, errorText(thrown), toolEnvelopeOf(explained(thrown), source), details);
    }
  }

  #error(step: StepScope, error: string, envelope: ErrorEnvelope, details?: EventDetails): void {
    this.#sink.send(
      { type: "step_error", ...namesOf(step), error, envelope, duration_ms: sinceMs(step) },
      withDetails(envelopeIn(step.run, eventId(step.id, "call-end")), details),
    );
  }
}

function namesOf({ id, name, run }: StepScope) {
  return { run_id: run.id, tenant_id: run.tenant, step_id: id, step: name };
}

function sinceMs({ startedMs }: StepScope): number {
  return Math.round(performance.now() - startedMs);
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
