// npm run build && node bench/scale.mjs [EVENTS] [--slices] [--audit] [--profile]: the events of a Kafka topic worked
// off by one, two and three workers, as ratios; see test/e2e/kafka/scale.ts.
import { runWithNewerNode } from "./newer-node.mjs";

runWithNewerNode("../test/e2e/kafka/scale.ts");
