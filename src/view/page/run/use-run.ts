import { useEffect, useMemo, useState } from "preact/hooks";
import type { RunDetail } from "../../format.ts";
import { axisEnd, type RunModel, runModel } from "../../model/run-model.ts";
import type { RunData } from "../data.ts";

/** Time between two requests for a run that may continue, in ms. */
const POLL_MS = 2000;

export interface ShownRun {
  readonly model?: RunModel;
  /** End of the time axis, in ms since the origin of the tree. */
  readonly end: number;
  /** Why the run, or its update, could not be read. */
  readonly error?: string;
}

/** A run and its model. It is read again while it may continue and the page is visible. */
export function useRun(data: RunData, key: string): ShownRun {
  const [detail, setDetail] = useState<RunDetail>();
  const [error, setError] = useState<string>();
  const [now, setNow] = useState<number>();

  useEffect(() => {
    let over = false;
    let isRead = false;
    let waits = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isShown = () => document.visibilityState === "visible";
    const ask = async () => {
      clearTimeout(timer);
      timer = undefined;
      let again = true;
      try {
        const answer = await data.run(key);
        if (over) return;
        // Keep the object if nothing changed, so that the model is not computed again.
        setDetail((last) => (last !== undefined && isSame(last, answer) ? last : answer));
        isRead = true;
        const isOpen = answer.run.end_ns === null;
        // An interrupted run may be resumed.
        const mayChange = isOpen || answer.run.outcome === "interrupted";
        again = !data.isReport && (mayChange || answer.verdict?.state === "checking");
        setNow(isOpen && !data.isReport ? Date.now() : undefined);
        setError(undefined);
      } catch (thrown) {
        if (over) return;
        again = !data.isReport && isRead;
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

  const model = useMemo(() => (detail === undefined ? undefined : runModel(detail)), [detail]);
  return {
    ...(model === undefined ? {} : { model }),
    end: model === undefined ? 0 : Math.max(axisEnd(model, now), MIN_AXIS_MS),
    ...(error === undefined ? {} : { error }),
  };
}

function isSame(one: RunDetail, other: RunDetail): boolean {
  const { state, verified_at } = one.verdict ?? {};
  return (
    one.revision === other.revision &&
    state === other.verdict?.state &&
    verified_at === other.verdict?.verified_at
  );
}

/** Shortest axis, for a run without a duration. */
const MIN_AXIS_MS = 0.001;
