import { type BoardOptions, build } from "./board.ts";
import { agent } from "./boards/agent.ts";
import { costs } from "./boards/cost.ts";
import { failures } from "./boards/failures.ts";
import { health } from "./boards/health.ts";
import { models } from "./boards/models.ts";
import { objectives } from "./boards/objectives.ts";
import { overview } from "./boards/overview.ts";
import { tool } from "./boards/tool.ts";

/** The JSON file of each dashboard, by its name. */
export function dashboardFiles(options: BoardOptions): ReadonlyMap<string, string> {
  return new Map(
    [overview, agent, tool, failures, models, costs, objectives, health].map((board) => {
      const dashboard = build(board, options);
      return [`${dashboard.uid}.json`, jsonText(dashboard)];
    }),
  );
}

/** JSON as the formatter of this repository leaves it: short lists of plain values stand on one line. */
function jsonText(value: unknown): string {
  const plain = String.raw`(?:"(?:[^"\\]|\\.)*"|-?[\d.]+)`;
  const list = new RegExp(String.raw`^(.*)\[\n\s+(${plain}(?:,\n\s+${plain})*)\n\s+\](,?)$`, "gm");
  const text = JSON.stringify(value, null, 2).replace(list, (all, before, items, after) => {
    const line = `${before}[${items.replace(/,\n\s+/g, ", ")}]${after}`;
    return line.length <= LINE_WIDTH ? line : all;
  });
  return `${text}\n`;
}

const LINE_WIDTH = 100;
