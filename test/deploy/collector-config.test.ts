import { describe, expect, it } from "vitest";
import { ATTRIBUTES } from "../../src/events/door.ts";
import {
  at,
  composeVariables,
  entriesAt,
  envVariables,
  listAt,
  settingsIn,
  shippedYaml,
  textsAt,
} from "./support/shipped-yaml.ts";

const MAIN = "collector-config.yaml";
const AUTH = "deploy/collector/auth.yaml";
const AGENT = "deploy/collector/agent-to-kafka.yaml";
const SAMPLING = "deploy/collector/kafka-to-sampling.yaml";
const JAEGER = "deploy/jaeger/config.yaml";

const main = shippedYaml(MAIN);
const sampling = shippedYaml(SAMPLING);

const pipelines = (config: unknown) =>
  entriesAt(config, "service", "pipelines").map(([name, pipeline]) => ({
    name,
    receivers: textsAt(pipeline, "receivers"),
    processors: textsAt(pipeline, "processors"),
    exporters: textsAt(pipeline, "exporters"),
  }));

describe("the collector's configuration", () => {
  it("limits memory before all else, wherever requests come in", () => {
    const entries = [...pipelines(main), ...pipelines(sampling)].filter(({ receivers }) =>
      receivers.some((receiver) => /^(otlp|kafka)/.test(receiver)),
    );
    expect(entries.map(({ name }) => name)).toEqual([
      "traces/live",
      "traces/replay",
      "metrics/events",
      "traces/spans",
      "traces/replays",
    ]);
    for (const { processors } of entries) expect(processors[0]).toBe("memory_limiter");
  });

  it("keeps replays from the span metrics and from any sampler", () => {
    const replay = pipelines(main).find(({ receivers }) => receivers.includes("otlp/replay"));
    expect(replay).toEqual({
      name: "traces/replay",
      receivers: ["otlp/replay"],
      processors: ["memory_limiter", "transform/scrub", "transform/fit"],
      exporters: ["otlp_grpc/jaeger"],
    });
  });

  it("measures spans before they are sampled, and nothing else", () => {
    const measuring = pipelines(main).filter(({ exporters }) => exporters.includes("span_metrics"));
    expect(measuring).toEqual([
      {
        name: "traces/measured",
        receivers: ["forward"],
        processors: ["filter/no_markers", "transform/metric_labels"],
        exporters: ["span_metrics", "span_metrics/monitor"],
      },
    ]);
  });

  it("holds no spans in memory that were confirmed, but in the sampler", () => {
    for (const { name, processors } of [...pipelines(main), ...pipelines(sampling)]) {
      expect(
        processors.filter((processor) => processor.startsWith("batch")),
        name,
      ).toEqual([]);
    }
    for (const config of [main, sampling]) {
      const queue = at(config, "exporters", "otlp_grpc/jaeger", "sending_queue");
      expect(queue).toMatchObject({ storage: "file_storage/queue", block_on_overflow: true });
    }
  });

  it("takes a batch no smaller than the largest request, and Jaeger takes a larger one", () => {
    const bytes = (path: string, name: string) =>
      Number(envVariables(path).find((variable) => variable.name === name)?.fallback);
    const largest = bytes(MAIN, "MAX_REQUEST_BYTES");
    expect(largest).toBe(16 * 2 ** 20);
    expect(bytes(MAIN, "MAX_REQUEST_MIB") * 2 ** 20).toBe(largest);
    expect(at(main, "exporters", "otlp_grpc/jaeger", "sending_queue", "batch", "max_size")).toBe(
      at(main, "receivers", "otlp", "protocols", "http", "max_request_body_size"),
    );
    expect(bytes(JAEGER, "JAEGER_MAX_RECEIVE_MIB") * 2 ** 20).toBeGreaterThan(largest);
  });

  it("makes metrics for Jaeger as Jaeger looks for them, in milliseconds", () => {
    const jaeger = at(
      shippedYaml(JAEGER),
      "extensions",
      "jaeger_storage",
      "metric_backends",
      "prometheus",
      "prometheus",
    );
    const namespace = String(at(main, "connectors", "span_metrics/monitor", "namespace"));
    expect(at(jaeger, "metric_namespace")).toBe(namespace.replaceAll(".", "_"));
    expect(at(main, "connectors", "span_metrics/monitor", "histogram", "unit")).toBe("ms");
    expect(at(jaeger, "latency_unit")).toBe("ms");
  });
});

describe("what is scrubbed", () => {
  const statements = listAt(main, "processors", "transform/scrub", "trace_statements")
    .flatMap((group) => textsAt(group, "statements"))
    .map((statement) => /^delete_matching_keys\((\w+)\.attributes, "(.*)"\)$/.exec(statement));
  const patterns = statements.map(
    (match) =>
      // As the collector reads it: $$ is a dollar sign, and a text of its language has escapes.
      new RegExp((match?.[2] ?? "").replaceAll("$$", "$").replaceAll("\\\\", "\\")),
  );

  it("is the same on spans and on their events", () => {
    expect(statements.map((match) => match?.[1])).toEqual(["span", "spanevent"]);
    expect(new Set(patterns.map(String)).size).toBe(1);
  });

  it("is every attribute of ours that holds content, and none that does not", () => {
    const scrubbed = Object.keys(ATTRIBUTES).filter((name) => patterns[0]?.test(name));
    const content = Object.entries(ATTRIBUTES)
      .filter(([, attribute]) => attribute.content)
      .map(([name]) => name);
    expect(content).toContain("gen_ai.tool.call.arguments");
    expect(scrubbed.sort()).toEqual(content.sort());
  });

  it.each([
    ["gen_ai.input.messages", true],
    ["gen_ai.output.messages", true],
    ["gen_ai.system_instructions", true],
    ["gen_ai.prompt.variable.name", true],
    ["gen_ai.prompt", true],
    ["gen_ai.prompt.0.content", true],
    ["gen_ai.completion.12.tool_calls.0.arguments", true],
    ["gen_ai.retrieval.query.text", true],
    ["gen_ai.retrieval.documents", true],
    ["gen_ai.memory.query.text", true],
    ["gen_ai.memory.records", true],
    ["gen_ai.prompt.name", false],
    ["gen_ai.retrieval.top_k", false],
    ["gen_ai.memory.store.id", false],
    ["gen_ai.usage.input_tokens", false],
    ["my.gen_ai.input.messages", false],
  ])("of other instrumentations: %s %s", (name, expected) => {
    expect(patterns[0]?.test(name)).toBe(expected);
  });
});

describe("the tiers with Kafka between", () => {
  it("sample as one host does", () => {
    for (const path of [
      ["processors", "tail_sampling"],
      ["processors", "memory_limiter"],
      ["exporters", "otlp_grpc/jaeger"],
      ["extensions", "file_storage/queue"],
    ]) {
      expect(at(sampling, ...path)).toEqual(at(main, ...path));
    }
  });

  it("let the same spans past the sampler", () => {
    const past = (config: unknown, filter: string) =>
      textsAt(config, "processors", filter, "traces", "span").at(-1);
    expect(past(sampling, "filter/at_once")).toBe(past(main, "filter/at_once"));
    expect(past(main, "filter/not_waiting")).toBe(
      `${past(sampling, "filter/not_waiting")} and "\${env:TRACE_SAMPLER:-}" == "tail_sampling"`,
    );
  });

  it("send live spans and replays by topics of their own, whole traces to one partition", () => {
    const agent = shippedYaml(AGENT);
    for (const kind of ["spans", "replays"]) {
      const topic = at(agent, "exporters", `kafka/${kind}`, "traces", "topic");
      expect(textsAt(sampling, "receivers", `kafka/${kind}`, "traces", "topics")).toEqual([topic]);
      expect(at(agent, "exporters", `kafka/${kind}`)).toMatchObject({
        partition_traces_by_id: true,
        producer: { required_acks: -1 },
      });
    }
    const sampled = pipelines(sampling).filter(({ processors }) =>
      processors.includes("tail_sampling"),
    );
    expect(sampled.map(({ name }) => name)).toEqual(["traces/sampled"]);
  });

  it("send nothing to Jaeger past Kafka", () => {
    const overlaid = new Map(
      pipelines(main).map((pipeline) => [pipeline.name, pipeline.exporters]),
    );
    for (const { name, exporters } of pipelines(shippedYaml(AGENT))) overlaid.set(name, exporters);
    expect([...overlaid].filter(([, to]) => to.includes("otlp_grpc/jaeger"))).toEqual([]);
  });
});

describe("the overlay with a token", () => {
  const auth = shippedYaml(AUTH);

  it("covers every receiver and protocol", () => {
    for (const [receiver, settings] of entriesAt(main, "receivers")) {
      for (const [protocol] of entriesAt(settings, "protocols")) {
        const path = ["receivers", receiver, "protocols", protocol, "auth", "authenticator"];
        expect(at(auth, ...path)).toBe("bearertokenauth");
      }
    }
  });

  it("leaves no extension out", () => {
    expect(textsAt(auth, "service", "extensions")).toEqual([
      ...textsAt(main, "service", "extensions"),
      "bearertokenauth",
    ]);
  });
});

describe("what the environment sets", () => {
  const files = [MAIN, AUTH, AGENT, SAMPLING, JAEGER];
  const all = files.flatMap((file) =>
    envVariables(file).map((variable) => ({ file, ...variable })),
  );

  it("has a default everywhere, but for the token", () => {
    const without = all.filter(({ fallback }) => fallback === undefined).map(({ name }) => name);
    expect(without).toEqual(["OTLP_TOKEN"]);
  });

  it("has one default, whichever file reads it", () => {
    const defaults = new Map<string, Set<string>>();
    for (const { name, fallback = "" } of all) {
      // Compared with "tail_sampling" where the processor's name is of no use.
      if (name === "TRACE_SAMPLER" && fallback === "") continue;
      defaults.set(name, (defaults.get(name) ?? new Set()).add(fallback));
    }
    const several = [...defaults].filter(([, values]) => values.size > 1);
    expect(several).toEqual([]);
    expect(defaults.get("KEEP_PERCENT")).toEqual(new Set(["10"]));
  });

  it("is in docs/deploy.md, with its default", () => {
    const rows = settingsIn("docs/deploy.md");
    for (const { name, fallback } of all) {
      if (name === "TRACE_SAMPLER" && fallback === "") continue;
      expect([name, rows.get(name)]).toEqual([name, fallback ?? "none"]);
    }
    const read = new Set(all.map(({ name }) => name));
    for (const name of composeVariables("docker-compose.yml").keys()) read.add(name);
    expect([...rows.keys()].filter((name) => !read.has(name))).toEqual([]);
  });

  it("selects among samplers that exist", () => {
    const selected = all.flatMap(({ name, fallback }) =>
      name === "TRACE_SAMPLER" ? fallback : [],
    );
    for (const name of ["tail_sampling", ...selected.filter((fallback) => fallback !== "")]) {
      expect(entriesAt(main, "processors").map(([processor]) => processor)).toContain(name);
    }
  });
});
