import { useEffect, useState } from "preact/hooks";
import type { RunDetail } from "../../format.ts";
import { axisEnd, type RunModel, runModelSteps } from "../../model/run-model.ts";
import type { RunHead } from "../../run-parts.ts";
import { breath } from "../breath.ts";
import type { RunData, RunProgress } from "../data.ts";

/** Time between two requests for a run that may continue, in ms. */
const POLL_MS = 2000;
/** Shortest time between two drawings of the progress, in ms. */
const PROGRESS_MS = 100;

export interface ShownRun {
  readonly model?: RunModel;
  /** What is known before the spans are read. */
  readonly head?: RunHead;
  /** Spans that were read, until there is a model. */
  readonly spans: number;
  /** End of the time axis, in ms since the origin of the tree. */
  readonly end: number;
  /** Why the run, or its update, could not be read. */
  readonly error?: string;
}

/** A run and its model. It is read again while it may continue and the page is visible. */
export function useRun(data: RunData, key: string): ShownRun {
  const [model, setModel] = useState<RunModel>();
  const [head, setHead] = useState<RunHead>();
  const [spans, setSpans] = useState(0);
  const [error, setError] = useState<string>();
  const [now, setNow] = useState<number>();

  useEffect(() => {
    let over = false;
    let last: RunDetail | undefined;
    let waits = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isShown = () => document.visibilityState === "visible";
    const progress: RunProgress = {
      onHead: (known) => {
        if (!over) setHead(known);
      },
      onSpans: atMostEvery(PROGRESS_MS, (count) => {
        if (!over && last === undefined) setSpans(count);
      }),
    };
    const ask = async () => {
      clearTimeout(timer);
      timer = undefined;
      let again = true;
      try {
        const answer = await data.run(key, progress, last);
        if (over) return;
        // The same object if nothing has changed: the model stays.
        if (answer !== last) {
          const made = await modelOf(answer);
          if (over) return;
          setModel(made);
        }
        last = answer;
        const isOpen = answer.run.end_ns === null;
        // An interrupted run may be resumed.
        const mayChange = isOpen || answer.run.outcome === "interrupted";
        again = !data.isReport && (mayChange || answer.verdict?.state === "checking");
        setNow(isOpen && !data.isReport ? Date.now() : undefined);
        setError(undefined);
      } catch (thrown) {
        if (over) return;
        again = !data.isReport && last !== undefined;
        setError(thrown instanceof Error ? thrown.message : String(thrown));
      }
      if (again && isShown()) timer = setTimeout(ask, POLL_MS);
      waits = again;
    };
    const onVisible = () => {
      if (isShown() && waits && timer === undefined) void ask();
    };
    document.addEventListener("visibilitychange", onVisible);
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [data, key]);

  return {
    ...(model === undefined ? {} : { model }),
    ...(head === undefined ? {} : { head }),
    spans,
    end: model === undefined ? 0 : Math.max(axisEnd(model, now), MIN_AXIS_MS),
    ...(error === undefined ? {} : { error }),
  };
}

/** The model of a run. The page can draw and react while it is made. */
async function modelOf(detail: RunDetail): Promise<RunModel> {
  const breathe = breath();
  const steps = runModelSteps(detail);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await breathe();
  }
}

/** Calls `take` with the newest value, but not more often than that. */
function atMostEvery(ms: number, take: (value: number) => void): (value: number) => void {
  let takenAt = Number.NEGATIVE_INFINITY;
  return (value) => {
    const now = performance.now();
    if (now - takenAt < ms) return;
    takenAt = now;
    take(value);
  };
}

/** Shortest axis, for a run without a duration. */
const MIN_AXIS_MS = 0.001;
