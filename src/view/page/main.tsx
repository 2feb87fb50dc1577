import { render } from "preact";
import { App } from "./app.tsx";
import { runData } from "./data.ts";
import { Feed } from "./feed.ts";
import { openOnlyRun } from "./route.ts";
import { ErrorNote } from "./shell/error-note.tsx";
import { applyStoredTheme } from "./shell/theme.tsx";

const element = document.getElementById("page");
if (element !== null) show(element);

function show(element: HTMLElement): void {
  applyStoredTheme();
  try {
    const data = runData();
    // The list restores its own position: the browser does not know its height in time.
    history.scrollRestoration = "manual";
    openOnlyRun(data.onlyRun);
    const feed = new Feed(data);
    feed.start();
    render(<App data={data} feed={feed} />, element);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    render(
      <ErrorNote reason={reason} title="The file is damaged: its runs can't be read." />,
      element,
    );
  }
}
