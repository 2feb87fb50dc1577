import { ATTRIBUTES } from "../../events/door.ts";
import type { ViewAttributes, ViewSpan } from "../format.ts";

/** No content by the table, but not for others: texts of exceptions can quote what a user wrote, and who decided. */
const PRIVATE: ReadonlySet<string> = new Set([
  "exception.message",
  "exception.stacktrace",
  "entelix.approval.person",
]);

/** Attributes of spans of others that hold no user's data: which service, which method, which answer. */
const FOREIGN: ReadonlySet<string> = new Set([
  "db.system",
  "db.system.name",
  "db.operation.name",
  "http.method",
  "http.request.method",
  "http.response.status_code",
  "http.route",
  "http.status_code",
  "messaging.system",
  "network.protocol.name",
  "network.protocol.version",
  "rpc.method",
  "rpc.service",
  "rpc.system",
  "rpc.grpc.status_code",
  "url.scheme",
]);

const METADATA = "entelix.run.metadata.";

/** A span as it may be shown: with its content, or without. */
export function shownSpan(span: ViewSpan, content: boolean): ViewSpan {
  return content ? span : withoutContent(span);
}

/**
 * A span without content: of its attributes, and those of its events and links, only those stay that this package
 * knows to hold none, and some of HTTP, RPC and databases. Unknown attributes may hold anything. The operator's
 * text stays on spans of this package, as `docs/privacy.md` says.
 */
export function withoutContent({ message, ...span }: ViewSpan): ViewSpan {
  return {
    ...span,
    ...(message === undefined || span.run_id === undefined ? {} : { message }),
    attributes: known(span.attributes),
    events: span.events.map((event) => ({ ...event, attributes: known(event.attributes) })),
    links: span.links.map((link) => ({ ...link, attributes: known(link.attributes) })),
  };
}

function known(attributes: ViewAttributes): ViewAttributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => isShown(name)));
}

function isShown(name: string): boolean {
  if (PRIVATE.has(name)) return false;
  if (FOREIGN.has(name) || name.startsWith(METADATA)) return true;
  return Object.hasOwn(ATTRIBUTES, name) && !CONTENT.has(name);
}

const CONTENT: ReadonlySet<string> = new Set(
  Object.entries(ATTRIBUTES)
    .filter(([, { content }]) => content)
    .map(([name]) => name),
);
