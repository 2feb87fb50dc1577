import { ATTRIBUTES } from "../../events/door.ts";
import type { ViewAttributes, ViewSpan } from "../format.ts";
import { isOfOthers } from "../runs/other-runs.ts";

/** Not content by the table, but not for other readers: they can quote users' texts, or name the user who decided. */
const PRIVATE: ReadonlySet<string> = new Set([
  "exception.message",
  "exception.stacktrace",
  "entelix.approval.person",
]);

/** Attributes of other instrumentation without users' data: service, method, status. */
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

/** The span with or without its content. */
export function shownSpan(span: ViewSpan, content: boolean): ViewSpan {
  return content ? span : withoutContent(span);
}

/**
 * A span without content. Attributes of the span, its events and links are removed unless this package knows that they
 * have no content. Some attributes of HTTP, RPC and databases stay. The operator's text stays on spans of this package
 * (docs/privacy.md).
 */
export function withoutContent({ message, ...span }: ViewSpan): ViewSpan {
  return {
    ...span,
    ...(message === undefined || isOfOthers(span) ? {} : { message }),
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
