import {
  type Instant,
  type ModelOpening,
  type ModelOperation,
  type RunIds,
  type SpanAttributes,
  type StepKind,
  type StepOpening,
  spanIdOf,
} from "../../events/door.ts";

/**
 * A tool call of a run. The run keeps closed calls, without their handles, to number repeats of an ID and
 * to detect a redelivered end.
 *
 * @typeParam H the driver's handle of a span.
 */
export class Call<H> {
  readonly id: string;
  /** Its own key, if another call of its ID was open when it started, and its source gives keys. */
  readonly key: string | undefined;
  readonly name: string;
  readonly version: string | undefined;
  /** Number of the call among those with its ID in the run, from 1. */
  readonly occurrence: number;
  readonly startedAt: Instant;
  /** The two words of its span ID. A closed run stores only the first. */
  readonly high: number;
  readonly low: number;
  handle: H | undefined = undefined;
  /** Whether a person or policy approved it. */
  approved = false;
  /** How long the approval took, in ms, if the source reports it. */
  approvalWaitMs: number | undefined = undefined;
  /** The driver's attributes for the approval. They replace the two fields above. */
  approvalAttributes: SpanAttributes | undefined = undefined;
  /**
   * Time and duration of the last end of this ID, for any of its calls. An equal end is a repeat. Only the
   * newest call of the ID has them.
   */
  lastEndAt: Instant | undefined = undefined;
  lastEndMs = 0;
  denied = false;

  /** The call before it in the run's history, while the history is a list. */
  before: Call<H> | undefined = undefined;
  /** Neighbors in the run's list of open calls, oldest first. */
  previous: Call<H> | undefined = undefined;
  next: Call<H> | undefined = undefined;

  constructor(
    id: string,
    name: string,
    version: string | undefined,
    occurrence: number,
    startedAt: Instant,
    ids: RunIds,
    key?: string,
  ) {
    const { h1, h2 } = ids.childWords("t", id, occurrence);
    this.high = h1;
    this.low = h2;
    this.id = id;
    this.key = key;
    this.name = name;
    this.version = version;
    this.occurrence = occurrence;
    this.startedAt = startedAt;
  }

  get spanId(): string {
    return spanIdOf(this.high, this.low);
  }
}

const NO_ATTRIBUTES: SpanAttributes = {};

/**
 * A model call of a run.
 *
 * @typeParam H the driver's handle of a span.
 */
export class ModelCall<H> {
  /** Number of the model call in its run, from 1. Its span ID is derived from it. */
  readonly ordinal: number;
  readonly model: string | undefined;
  readonly operation: ModelOperation;
  readonly provider: string | undefined;
  /** Host and port of the model's API, if its start has them. */
  readonly server: string | undefined;
  readonly port: number | undefined;
  readonly startedAt: Instant;
  /** Empty if the source has no IDs of model calls. */
  readonly id: string;
  handle: H | undefined = undefined;
  previous: ModelCall<H> | undefined = undefined;
  next: ModelCall<H> | undefined = undefined;

  constructor(ordinal: number, opening: ModelOpening, startedAt: Instant, id: string) {
    const {
      "gen_ai.provider.name": provider,
      "server.address": server,
      "server.port": port,
    } = opening.attributes ?? NO_ATTRIBUTES;
    this.ordinal = ordinal;
    this.model = opening.model;
    this.operation = opening.operation ?? "chat";
    this.provider = typeof provider === "string" ? provider : undefined;
    this.server = typeof server === "string" ? server : undefined;
    this.port = typeof port === "number" ? port : undefined;
    this.startedAt = startedAt;
    this.id = id;
  }
}

/**
 * A step of a run. The run keeps ended steps, without their handles, as the parents of late children.
 *
 * @typeParam H the driver's handle of a span.
 */
export class Step<H> {
  readonly id: string;
  readonly name: string;
  readonly kind: StepKind;
  /** Number of the step in its run, from 1. Its span ID is derived from it. */
  readonly ordinal: number;
  /** ID or key of the call of the run that the step is inside. */
  readonly inCallId: string | undefined;
  readonly startedAt: Instant;
  /** While it is open. */
  handle: H | undefined = undefined;
  previous: Step<H> | undefined = undefined;
  next: Step<H> | undefined = undefined;

  constructor(id: string, ordinal: number, opening: StepOpening, startedAt: Instant) {
    this.id = id;
    this.name = opening.name;
    this.kind = opening.kind ?? "step";
    this.ordinal = ordinal;
    this.inCallId = opening.inCallId;
    this.startedAt = startedAt;
  }
}
