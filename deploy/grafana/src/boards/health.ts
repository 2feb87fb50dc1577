import type { Board, Section } from "../board.ts";
import { bars, lines } from "../charts.ts";
import { figure } from "../figures.ts";
import { AGENT, JOB, REASON, WAITS_FOR } from "../labels.ts";
import { jaegerLink } from "../links.ts";
import { WAIT_COLORS } from "../palette.ts";
import {
  collectorSeries,
  grown,
  max,
  orZero,
  RANGE,
  ratio,
  STEP,
  series,
  sum,
} from "../queries.ts";
import { OF_SERVICE, ROOT, RUN_SPANS } from "../scope.ts";
import { intervalVariable, serviceVariable } from "../variables.ts";

const bridge = (name: string, ...matchers: readonly string[]): string =>
  series(`entelix_bridge_${name}`, OF_SERVICE, ...matchers);

const auditFailures = series("entelix_audit_append_failures_total", OF_SERVICE);

/** Spans that the collector could not hand on, or not even queue. */
const UNDELIVERED = collectorSeries("exporter_(send|enqueue)_failed_spans");
/** Traces that tail sampling decided on. */
const decided = (sampled: string): string =>
  collectorSeries("processor_tail_sampling_global_count_traces_sampled", `sampled="${sampled}"`);

const OVERFLOW = series("entelix_spans_calls_total", 'otel_metric_overflow="true"');

const numbers: Section = {
  title: "In the time range: what should be 0",
  lines: [
    {
      height: 4,
      panels: [
        figure({
          title: "Audit rows not stored",
          description:
            "Rows that the session log refused. The runs carry `entelix.audit.failed`; find out whether the disk is full before anything else.",
          unit: "short",
          expr: sum([], grown(auditFailures, RANGE)),
          steps: ["green", [1, "red"]],
        }),
        figure({
          title: "Spans dropped in process",
          description: "Spans that the exporter of a process could not send, or had no room for.",
          unit: "short",
          expr: sum([], grown(bridge("spans_dropped_total"), RANGE)),
          steps: ["green", [1, "red"]],
        }),
        figure({
          title: "Spans refused",
          description:
            "Spans that the collector refused, mostly by its memory limiter. The senders try again for a while.",
          unit: "short",
          expr: orZero(sum([], grown(collectorSeries("receiver_refused_spans"), RANGE))),
          steps: ["green", [1, "orange"]],
        }),
        figure({
          title: "Spans not delivered",
          description:
            "Spans that the collector could not hand on to Jaeger, or had no room for in its queue.",
          unit: "short",
          expr: orZero(sum([], grown(UNDELIVERED, RANGE))),
          steps: ["green", [1, "red"]],
        }),
        figure({
          title: "Runs evicted or aged",
          description:
            "Runs that the bridge closed because too many were open, or because nothing was heard of them for too long.",
          unit: "short",
          expr: sum(
            [],
            grown(bridge("adjustments_total", 'entelix_reason=~"evicted_runs|aged_runs"'), RANGE),
          ),
          steps: ["green", [1, "orange"]],
        }),
        figure({
          title: "Labels out of room",
          description:
            "Measurements with a label that became `_other`, and spans in series that the collector folded into one.",
          unit: "short",
          expr: `${sum([], grown(bridge("label_overflow_total"), RANGE))} + (${orZero(sum([], grown(OVERFLOW, RANGE)))})`,
          steps: ["green", [1, "orange"]],
        }),
      ],
    },
  ],
};

const inTheProcess: Section = {
  title: "The bridge in its process",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Events in",
          description: "Lifecycle events that the bridge got.",
          unit: "short",
          queries: [{ expr: sum([JOB], grown(bridge("events_total"), STEP)), legend: "{{job}}" }],
        }),
        bars({
          title: "Events ignored by reason",
          description:
            "Events that changed nothing. `duplicate` is redelivery and harmless; `not_an_event` and `empty_run_id` want a look at the sender.",
          unit: "short",
          queries: [
            {
              expr: sum([REASON], grown(bridge("ignored_total"), STEP)),
              legend: "{{entelix_reason}}",
            },
          ],
        }),
        bars({
          title: "Adjustments by reason",
          description:
            "Where the bridge had to bend events to its rules: limits reached, starts not seen, skewed clocks, run ids of another tenant. docs/limits.md has each.",
          unit: "short",
          queries: [
            {
              expr: sum([REASON], grown(bridge("adjustments_total"), STEP)),
              legend: "{{entelix_reason}}",
            },
          ],
        }),
      ],
    },
    {
      height: 8,
      panels: [
        lines({
          title: "Open runs",
          description:
            "Runs that the bridge keeps open. A line that only rises is a leak of runs that never end.",
          unit: "short",
          queries: [{ expr: sum([JOB], bridge("open_runs")), legend: "{{job}}" }],
        }),
        bars({
          title: "Spans dropped in the process by reason",
          description: "Spans that never left the process.",
          unit: "short",
          queries: [
            {
              expr: sum([REASON], grown(bridge("spans_dropped_total"), STEP)),
              legend: "{{entelix_reason}}",
            },
          ],
        }),
        bars({
          title: "Labels out of room",
          description:
            "Measurements with a label (tenant, agent, tool, model) that became `_other`.",
          unit: "short",
          queries: [
            {
              expr: sum(["entelix_label"], grown(bridge("label_overflow_total"), STEP)),
              legend: "{{entelix_label}}",
            },
          ],
        }),
        bars({
          title: "Audit rows not stored",
          description:
            "Rows that the session log refused. A click leads to the runs that lack them.",
          unit: "short",
          queries: [{ expr: sum([JOB], grown(auditFailures, STEP)), legend: "{{job}}" }],
          links: [
            jaegerLink("Traces with rows that are missing", "series", {
              tags: { "entelix.audit.failed": "true" },
            }),
          ],
        }),
      ],
    },
  ],
};

const collector: Section = {
  title: "The collector",
  lines: [
    {
      height: 8,
      panels: [
        lines({
          title: "Spans in and out",
          description:
            "What the collector took and what it handed on. After tail sampling less goes out than came in.",
          unit: "short",
          queries: [
            {
              expr: sum(["receiver"], grown(collectorSeries("receiver_accepted_spans"), STEP)),
              legend: "in: {{receiver}}",
            },
            {
              expr: sum(["exporter"], grown(collectorSeries("exporter_sent_spans"), STEP)),
              legend: "out: {{exporter}}",
            },
          ],
        }),
        bars({
          title: "Spans refused or not delivered",
          description:
            "Refused at the door, failed on the way to Jaeger, or without room in the queue. 0 is drawn where nothing of the kind has happened yet.",
          unit: "short",
          queries: [
            {
              expr: orZero(sum([], grown(collectorSeries("receiver_refused_spans"), STEP))),
              legend: "refused",
            },
            {
              expr: orZero(sum([], grown(collectorSeries("exporter_send_failed_spans"), STEP))),
              legend: "send failed",
            },
            {
              expr: orZero(sum([], grown(collectorSeries("exporter_enqueue_failed_spans"), STEP))),
              legend: "queue full",
            },
          ],
          colors: { refused: "orange", "send failed": "red", "queue full": "dark-red" },
        }),
        lines({
          title: "Queue to the backends",
          description:
            "How full each exporter's queue is. It fills while a backend is away and empties when it is back; at 100 % spans are lost.",
          unit: "percentunit",
          queries: [
            {
              expr: ratio(
                max(["exporter"], collectorSeries("exporter_queue_size")),
                max(["exporter"], collectorSeries("exporter_queue_capacity")),
              ),
              legend: "{{exporter}}",
            },
          ],
        }).max(1),
      ],
    },
    {
      height: 8,
      panels: [
        bars({
          title: "Tail sampling: traces kept and left out",
          description:
            "Only where the collector samples (`TRACE_SAMPLER=tail_sampling`); else 0. Failed and interrupted traces are always kept, of the others a share.",
          unit: "short",
          queries: [
            { expr: orZero(sum([], grown(decided("true"), STEP))), legend: "kept" },
            { expr: orZero(sum([], grown(decided("false"), STEP))), legend: "left out" },
          ],
          colors: { kept: "green", "left out": "#9fa7b3" },
        }),
        lines({
          title: "Tail sampling: traces in memory",
          description:
            "Traces that wait for their decision. At `num_traces` the oldest is dropped before its time: see the next panel.",
          unit: "short",
          queries: [
            {
              expr: orZero(
                sum([], collectorSeries("processor_tail_sampling_sampling_traces_on_memory")),
              ),
              legend: "in memory",
            },
          ],
        }),
        bars({
          title: "Tail sampling: traces dropped too early",
          description:
            "Traces dropped before their decision, because `num_traces` is too small for the load. Failed ones among them are lost.",
          unit: "short",
          queries: [
            {
              expr: orZero(
                sum(
                  [],
                  grown(
                    collectorSeries("processor_tail_sampling_sampling_trace_dropped_too_early"),
                    STEP,
                  ),
                ),
              ),
              legend: "dropped too early",
            },
          ],
          colors: { "dropped too early": "red" },
        }),
        lines({
          title: "Memory of the collector",
          description: "Resident memory. The memory limiter refuses spans near its limit.",
          unit: "bytes",
          queries: [{ expr: sum([], collectorSeries("process_memory_rss")), legend: "resident" }],
        }),
      ],
    },
    {
      height: 8,
      panels: [
        lines({
          title: "Root runs counted twice: by events and by spans",
          description:
            "The same root runs, counted by the bridge and by the collector. Without sampling at the start the lines agree, a minute apart; a gap is spans that were lost.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB], grown(series("entelix_runs_total", OF_SERVICE, ROOT), STEP)),
              legend: "events {{job}}",
            },
            {
              expr: sum(
                [JOB],
                grown(series("entelix_spans_calls_total", OF_SERVICE, RUN_SPANS, ROOT), STEP),
              ),
              legend: "spans {{job}}",
            },
          ],
        }),
        lines({
          title: "Targets that Prometheus reaches",
          description: "1: scraped. 0: not reached, and everything above stands still.",
          unit: "short",
          queries: [{ expr: "min by (job, instance) (up)", legend: "{{job}} {{instance}}" }],
        }).max(1),
      ],
    },
  ],
};

const openRuns: Section = {
  title: "Open runs",
  lines: [
    {
      height: 8,
      panels: [
        lines({
          title: "Open runs by what they wait for",
          description:
            "Runs by what they wait for. `approval`: somebody was asked about a call. `child`: a sub-agent runs. `nothing`: between calls.",
          unit: "short",
          queries: [
            {
              expr: sum([WAITS_FOR], series("entelix_runs_waiting", OF_SERVICE)),
              legend: "{{entelix_run_waits_for}}",
            },
          ],
          colors: WAIT_COLORS,
        }),
        lines({
          title: "Longest silence of an open run",
          description:
            "The longest time since the last event of an open run, by agent and what the run waits for. Tickets: 30 minutes for `tool`, 10 for `model` and `nothing`.",
          unit: "s",
          queries: [
            {
              expr: max([AGENT, WAITS_FOR], series("entelix_runs_idle_max_seconds", OF_SERVICE)),
              legend: "{{gen_ai_agent_name}} {{entelix_run_waits_for}}",
            },
          ],
        }),
      ],
    },
  ],
};

export const health: Board = {
  key: "health",
  title: "Entelix: the bridge's health",
  description:
    "Whether the other dashboards can be believed: the bridge, its audit log and the collector.",
  variables: [serviceVariable(), intervalVariable()],
  sections: [numbers, openRuns, inTheProcess, collector],
};
