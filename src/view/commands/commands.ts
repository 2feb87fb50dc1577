import type { ListedCommand } from "../../cli/door.ts";

/** The commands that show runs on a page, in the order of the help. */
export const VIEW_COMMANDS: readonly ListedCommand[] = [
  {
    name: "demo",
    summary: "Play recorded agent runs and show decisions, failures, cost, traces and audit log.",
    load: async () => (await import("./demo.ts")).demo,
  },
  {
    name: "view",
    summary:
      "Show runs in the browser: timeline, failures, messages, audit rows. No server is needed.",
    load: async () => (await import("./view.ts")).view,
  },
  {
    name: "report",
    summary: "Write a run, or all failed runs, as one HTML file that needs no network.",
    load: async () => (await import("./report.ts")).report,
  },
];
