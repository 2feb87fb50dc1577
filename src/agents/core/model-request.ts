import type { ModelParameters } from "../../events/door.ts";
import type { Server } from "../runtime/server-address.ts";
import { fieldsOf, textOf } from "./narrow.ts";

/** What an adapter knows of a request, beside its messages. */
export interface ModelRequest extends Server {
  readonly provider?: string;
  readonly parameters?: ModelParameters;
}

/** A choice of tools as one text: `auto`, `none`, `required`, or the name of a tool. */
export function toolChoiceOf(given: unknown): string | undefined {
  const fields = fieldsOf(given);
  if (fields === undefined) return textOf(given);
  return textOf(fields.name) ?? textOf(fieldsOf(fields.function)?.name) ?? textOf(fields.type);
}
