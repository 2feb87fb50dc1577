import { durationText } from "../../../events/format/door.ts";
import type { ViewSpanEvent, ViewSpanLink } from "../../format.ts";
import { timeSince } from "../../model/span-tree.ts";
import { Text } from "../shell/text.tsx";
import { AttributeList } from "./attributes-view.tsx";

export interface EventsViewProps {
  readonly events: readonly ViewSpanEvent[];
  readonly links: readonly ViewSpanLink[];
  readonly originNs: bigint;
}

/** Events and links of a span. */
export function EventsView({ events, links, originNs }: EventsViewProps) {
  if (events.length + links.length === 0) {
    return <p class="muted">The span has no events and no links.</p>;
  }
  return (
    <>
      {events.map(({ attributes, name, time_ns }, at) => (
        <section class="content" key={`${at} ${name}`}>
          <h3>
            <Text limit={120} value={name} />{" "}
            <span class="muted">after {durationText(timeSince(originNs, time_ns))}</span>
          </h3>
          <AttributeList attributes={attributes} />
        </section>
      ))}
      {links.map(({ attributes, span_id, trace_id }) => (
        <section class="content" key={`${trace_id} ${span_id}`}>
          <h3>
            Link to span <Text value={span_id} />
          </h3>
          <p class="mono muted">
            trace <Text value={trace_id} />
          </p>
          <AttributeList attributes={attributes} />
        </section>
      ))}
    </>
  );
}
