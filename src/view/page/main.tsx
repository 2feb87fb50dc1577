import { render } from "preact";
import { App } from "./app.tsx";
import { runData } from "./data.ts";
import { Feed } from "./feed.ts";
import { openOnlyRun } from "./route.ts";
import { applyStoredTheme } from "./shell/theme.tsx";

const place = document.getElementById("page");
if (place !== null) {
  const data = runData();
  applyStoredTheme();
  // The list restores its own position: the browser does not know its height in time.
  history.scrollRestoration = "manual";
  openOnlyRun(data.onlyRun);
  const feed = new Feed(data);
  feed.start();
  render(<App data={data} feed={feed} />, place);
}
