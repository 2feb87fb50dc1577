import type { AttributeValue } from "@opentelemetry/api";
import { type AttributeName, type EventEnvelope, property } from "../../events/door.ts";
import type { RunOwner } from "../lifecycle/parent-context.ts";
import { cutBytes } from "./content.ts";

/** Most bytes (UTF-8) of `user.id` and `session.id`. A longer ID is left out: cut, it would be another's. */
const MOST_ID = 256;
const MOST_TAGS = 32;
/** Most bytes of a tag. */
const MOST_TAG = 256;
/** So many fit beside ours and those of the attribute hook within the SDK's default limit of 128. */
const MOST_METADATA = 32;
/** Most bytes of a name in the metadata. */
const MOST_KEY = 128;
/** Most bytes of a value in the metadata. */
const MOST_VALUE = 1_024;

/** Reads whose run it is out of envelopes, within the bounds of what spans show of it. */
export class RunOwners {
  /** IDs, tags and metadata that were over a bound, left out or cut. */
  dropped = 0;

  /** `undefined` where the envelope does not say. Senders in plain JavaScript are not held to the types. */
  of(envelope: EventEnvelope | undefined): RunOwner | undefined {
    // Programs without types give `null`, too.
    const details: unknown = envelope?.details;
    const session_id: unknown = envelope?.session_id;
    if (details === undefined && session_id === undefined) return undefined;
    try {
      return this.#read(details, session_id);
    } catch {
      // A list or an object that throws when it is read: the event itself is good.
      this.dropped++;
      return undefined;
    }
  }

  #read(details: unknown, session_id: unknown): RunOwner | undefined {
    const user = this.#id(property(details, "user_id"));
    const session = this.#id(session_id);
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

/** Whose run it is, as attributes of the run's span. */
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
