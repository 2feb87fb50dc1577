import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { list, optionalText, text, texts } from "../e2e/support/json-shape.ts";

export const PROMETHEUS = join(import.meta.dirname, "../../deploy/prometheus");
export const ALERTMANAGER = join(import.meta.dirname, "../../deploy/alertmanager/alertmanager.yml");

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a promtool test expects of an alert at one time. */
export interface Expectation {
  readonly file: string;
  readonly test: string;
  readonly alert: string;
  readonly fires: boolean;
  /** Labels and annotations of each alert that fires. */
  readonly firing: readonly Pick<AlertRule, "labels" | "annotations">[];
}

/** The YAML files of a folder, parsed, by name. */
export function yamlFiles(folder: string): ReadonlyMap<string, unknown> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".yml"));
  return new Map(
    names.map((name) => [name, parse(readFileSync(join(folder, name), "utf8")) as unknown]),
  );
}

const rules = [...yamlFiles(join(PROMETHEUS, "rules")).values()]
  .flatMap((file) => list(file, "groups"))
  .flatMap((group) => list(group, "rules"));

export const ALERTS: readonly AlertRule[] = rules
  .filter((rule) => optionalText(rule, "alert") !== undefined)
  .map((rule) => ({
    alert: text(rule, "alert"),
    expr: text(rule, "expr"),
    labels: texts(rule, "labels"),
    annotations: texts(rule, "annotations"),
  }));

export const RECORDS: readonly RecordingRule[] = rules
  .filter((rule) => optionalText(rule, "record") !== undefined)
  .map((rule) => ({
    record: text(rule, "record"),
    expr: text(rule, "expr"),
    labels: texts(rule, "labels"),
  }));

export const EXPECTATIONS: readonly Expectation[] = [
  ...yamlFiles(join(PROMETHEUS, "tests")),
].flatMap(([file, tests]) =>
  list(tests, "tests").flatMap((test) =>
    list(test, "alert_rule_test").map((expected) => ({
      file,
      test: text(test, "name"),
      alert: text(expected, "alertname"),
      fires: list(expected, "exp_alerts").length > 0,
      firing: list(expected, "exp_alerts").map((alert) => ({
        labels: texts(alert, "exp_labels"),
        annotations: texts(alert, "exp_annotations"),
      })),
    })),
  ),
);
