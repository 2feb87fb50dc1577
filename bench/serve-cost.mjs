// npm run build && node bench/serve-cost.mjs [EVENTS] [--profile]: CPU of an event by `serve`, from request to store;
// see test/e2e/programs/serve-cost.ts.
import { runWithNewerNode } from "./newer-node.mjs";

runWithNewerNode("../test/e2e/programs/serve-cost.ts");
