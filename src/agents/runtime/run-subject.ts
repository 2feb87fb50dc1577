import { checkList, checkObject, describe, withoutAdded } from "../../events/door.ts";
import type { SubjectFields } from "../writer/door.ts";

/**
 * The subject of a run: personal data. It is only on spans and in recordings if you set it, and never a label of a
 * metric. A bridge omits values above its limits (see `docs/limits.md`).
 */
export interface RunSubject {
  /** The person behind the run (`user.id`). Prefer an ID to a name or an address. */
  readonly user?: string | undefined;
  /** A session of the application (`session.id`), if it differs from the conversation. */
  readonly session?: string | undefined;
  /** Labels of the run (`entelix.run.tags`). */
  readonly tags?: readonly string[] | undefined;
  /** Further data of the run by name, as text (`entelix.run.metadata.<name>`). */
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
}

const NO_SUBJECT: SubjectFields = Object.freeze({ session_id: undefined, details: undefined });

/**
 * The envelope fields of a subject: a copy, so that later changes of the given object have no effect.
 *
 * @param above the subject of the surrounding run, for fields that are not set.
 * @throws TypeError for a field of the wrong type, and for an empty `user`, `session` or name.
 */
export function subjectFields(given: RunSubject, above: SubjectFields = NO_SUBJECT): SubjectFields {
  const { user, session, tags, metadata } = withoutAdded(given);
  if (user === undefined && session === undefined && tags === undefined && metadata === undefined) {
    return above;
  }
  const user_id = nameIn(user, "user") ?? above.details?.user_id;
  const session_id = nameIn(session, "session") ?? above.session_id;
  const labels = tagsIn(tags) ?? above.details?.tags;
  const data = metadataIn(metadata) ?? above.details?.metadata;
  const details = Object.freeze({
    ...(user_id === undefined ? {} : { user_id }),
    ...(labels === undefined ? {} : { tags: labels }),
    ...(data === undefined ? {} : { metadata: data }),
  });
  const hasDetails = Object.keys(details).length > 0;
  return Object.freeze({ session_id, details: hasDetails ? details : undefined });
}

function nameIn(value: unknown, field: string): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw new TypeError(`${field}: expected a text that is not empty, got ${describe(value)}`);
}

function tagsIn(tags: readonly unknown[] | undefined): readonly string[] | undefined {
  if (tags === undefined) return undefined;
  checkList(tags, "tags");
  const texts = tags.map((tag, index) => {
    if (typeof tag === "string") return tag;
    throw new TypeError(`tags[${index}]: expected a text, got ${describe(tag)}`);
  });
  return Object.freeze(texts);
}

function metadataIn(
  metadata: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (metadata === undefined) return undefined;
  checkObject(metadata, "metadata");
  const texts = Object.entries(metadata).map(([name, value]): [string, string] => {
    switch (typeof value) {
      case "string":
      case "number":
      case "boolean":
        return [name, String(value)];
      default: {
        const expected = "expected a text, a number or true or false";
        throw new TypeError(`metadata.${name}: ${expected}, got ${describe(value)}`);
      }
    }
  });
  return Object.freeze(Object.fromEntries(texts));
}
