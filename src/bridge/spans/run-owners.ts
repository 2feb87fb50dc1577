import type { AttributeValue } from "@opentelemetry/api";
import { type AttributeName, type EventEnvelope, property } from "../../events/door.ts";
import type { RunOwner } from "../lifecycle/door.ts";
import type { BaggageSubject } from "./baggage-subject.ts";
import { cutBytes } from "./content.ts";

/** Limit of `user.id` and `session.id` in bytes. A longer ID is omitted, since a cut one could be another's. */
const MOST_ID = 256;
const MOST_TAGS = 32;
/** Limit of a tag in bytes. */
const MOST_TAG = 256;
/** These fit with the attributes of the bridge and the hook into the SDK's default limit of 128. */
const MOST_METADATA = 32;
/** Limit of a metadata name in bytes. */
const MOST_KEY = 128;
/** Limit of a metadata value in bytes. */
const MOST_VALUE = 1_024;

/** Reads user, session, tags and metadata from envelopes, within size limits. */
export class RunOwners {
  /** Number of IDs, tags and metadata that were omitted or cut. */
  dropped = 0;

  /**
   * `undefined` if neither has any. Senders in plain JavaScript can pass other types.
   *
   * @param baggage counts where the envelope has nothing.
   */
  of(
    envelope: EventEnvelope | undefined,
    baggage?: BaggageSubject | undefined,
  ): RunOwner | undefined {
    // Untyped programs pass `null`, too.
    const details: unknown = envelope?.details;
    const session_id: unknown = envelope?.session_id;
    if (details === undefined && session_id === undefined && baggage === undefined) {
      return undefined;
    }
    try {
      return this.#read(details, session_id, baggage);
    } catch {
      // A list or object that throws when it is read. The event itself is still used.
      this.dropped++;
      return undefined;
    }
  }

  #read(
    details: unknown,
    session_id: unknown,
    baggage: BaggageSubject | undefined,
  ): RunOwner | undefined {
    const user = this.#id(property(details, "user_id")) ?? this.#id(baggage?.user);
    const session = this.#id(session_id) ?? this.#id(baggage?.session);
    const tags = this.#tags(property(details, "tags"));
    const metadata = this.#metadata(property(details, "metadata"));
    if (user === undefined && session === undefined && tags === undefined && metadata === undefined)
      return undefined;
    return { user, session, tags, metadata };
  }

  #id(value: unknown): string | undefined {
    if (typeof value !== "string" || value === "") return undefined;
    if (fits(value, MOST_ID)) return value;
    this.dropped++;
    return undefined;
  }

  #tags(given: unknown): readonly string[] | undefined {
    if (!Array.isArray(given) || given.length === 0) return undefined;
    const tags: string[] = [];
    for (const tag of given.slice(0, MOST_TAGS)) {
      if (typeof tag === "string") tags.push(this.#cut(tag, MOST_TAG));
      else this.dropped++;
    }
    this.dropped += given.length - Math.min(given.length, MOST_TAGS);
    return tags.length === 0 ? undefined : tags;
  }

  #metadata(given: unknown): ReadonlyMap<string, string> | undefined {
    if (typeof given !== "object" || given === null) return undefined;
    const metadata = new Map<string, string>();
    for (const [key, value] of Object.entries(given)) {
      const isText = key !== "" && typeof value === "string";
      if (!isText || !fits(key, MOST_KEY) || metadata.size === MOST_METADATA) this.dropped++;
      else metadata.set(key, this.#cut(value, MOST_VALUE));
    }
    return metadata.size === 0 ? undefined : metadata;
  }

  #cut(text: string, bytes: number): string {
    const shown = cutBytes(text, bytes);
    if (shown.length < text.length) this.dropped++;
    return shown;
  }
}

function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;
}

/** The owner as attributes of the run's span. */
export function ownerAttributes(
  owner: RunOwner,
): Partial<Record<AttributeName, AttributeValue | undefined>> {
  const { user, session, tags, metadata } = owner;
  const attributes: Partial<Record<AttributeName, AttributeValue | undefined>> = {};
  if (user !== undefined) attributes["user.id"] = user;
  if (session !== undefined) attributes["session.id"] = session;
  if (tags !== undefined) attributes["entelix.run.tags"] = [...tags];
  for (const [key, value] of metadata ?? []) attributes[`entelix.run.metadata.${key}`] = value;
  return attributes;
}
