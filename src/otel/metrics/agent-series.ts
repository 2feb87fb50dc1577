import { FallibleSeries } from "./fallible-series.ts";
import type { Instruments } from "./instruments.ts";
import type { Series } from "./series-table.ts";

/** The series of one agent, whoever's it is: the conventions' metrics know no tenant. */
export class AgentSeries {
  /** Of its runs, by their `error.type`. */
  readonly durations: FallibleSeries;
  readonly toolCalls: Series;
  /** Of its tool calls, by the name of the tool. */
  readonly tools = new Map<string, FallibleSeries>();

  /** @param agent value of its label. */
  constructor(instruments: Instruments, agent: string) {
    const { runDurations, toolCallCounts } = instruments;
    this.durations = new FallibleSeries((error) => runDurations.of(agent, error));
    this.toolCalls = toolCallCounts.of(agent);
  }
}
