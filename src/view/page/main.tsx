import { render } from "preact";
import { App } from "./app.tsx";
import { runData } from "./data.ts";

const place = document.getElementById("page");
if (place !== null) render(<App data={runData()} />, place);
