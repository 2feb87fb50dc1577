import { type ContentNeed, readsRows } from "../../events/door.ts";
import { fieldsOf, textOf } from "../core/door.ts";
import { nameOf } from "./llm-result.ts";
import { askedOf } from "./messages.ts";
import { IGNORED, type OpenCalls } from "./open-calls.ts";
import type { RunStart, Runs } from "./runs.ts";
import type { ScopeTable } from "./scope.ts";
import { stepCompleted, stepStarted, stepThrew } from "./steps.ts";

/** Sends retrievers, which are steps. One that is called alone is a run with a step. */
export class Retrievers {
  readonly #open: OpenCalls;
  readonly #scopes: ScopeTable;
  readonly #runs: Runs;
  readonly #needs: ContentNeed;

  constructor(open: OpenCalls, scopes: ScopeTable, runs: Runs, needs: ContentNeed) {
    this.#open = open;
    this.#scopes = scopes;
    this.#runs = runs;
    this.#needs = needs;
  }

  starts(
    serialized: unknown,
    query: unknown,
    id: string,
    parentId: string | undefined,
    { metadata, tags }: Pick<RunStart, "metadata" | "tags">,
    runName: unknown,
  ): void {
    const above = this.#open.above(id, parentId, metadata);
    if (above === IGNORED) return;
    const name = textOf(runName) ?? nameOf(fieldsOf(serialized)) ?? "retriever";
    const asked = readsRows(this.#needs) ? askedOf(query) : undefined;
    const invocation = { metadata, tags, asked };
    const found = this.#open.runFor(id, above, name, invocation);
    if (found === undefined) return;
    const { run, within } = found;
    const step = stepStarted({ kind: "retriever", id, above: within, run, step: name }, query);
    this.#scopes.set(id, parentId, step);
  }

  ends(documents: unknown, id: string): void {
    const step = this.#open.takeOpen(id, "retriever");
    if (step?.kind !== "retriever") return;
    stepCompleted(step, documents);
    if (step.alone) this.#runs.complete(step.run, null);
  }

  fails(thrown: unknown, id: string): void {
    const step = this.#open.takeOpen(id, "retriever");
    if (step?.kind !== "retriever") return;
    step.run.lastError = thrown;
    stepThrew(step, thrown);
    if (step.alone) this.#runs.end(step.run, thrown);
  }
}
