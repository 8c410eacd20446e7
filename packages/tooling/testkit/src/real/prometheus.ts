/** A real Prometheus on loopback that scrapes what a test serves, and `promtool`, its linter. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";
import { startDaemon } from "./daemon.ts";
import { freePorts } from "./free-ports.ts";

export interface PrometheusOptions {
  /** `http://127.0.0.1:<port>` whose `/metrics` it scrapes every second. */
  readonly target: string;
  /** The job that its series are of. Default: `svc`. */
  readonly job?: string;
  /** Files with alert rules. */
  readonly rules?: readonly string[];
}

export interface Prometheus extends AsyncDisposable {
  readonly url: string;
  /** Resolves once a scrape that began after this call came through. Rejects with the reason when one fails. */
  scraped(): Promise<void>;
  /** Evaluates PromQL now: a vector, or one number without labels. Rejects with Prometheus' own words. */
  query(expression: string): Promise<QueriedSample[]>;
  /** The value of the one series that it finds. */
  value(expression: string): Promise<number>;
  close(): Promise<void>;
}

export interface QueriedSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Undefined: all is there. */
export function missingPrometheus(): MissingPart | undefined {
  const isThere = ["prometheus", "promtool"].every((program) => spawnSync(program, ["--version"]).status === 0);
  return isThere ? undefined : { name: "prometheus", reason: "not on PATH; apt-get install prometheus" };
}

export async function startPrometheus({ target, job = "svc", rules = [] }: PrometheusOptions): Promise<Prometheus> {
  const home = temporaryHome();
  const path = (name: string): string => join(home.path, name);
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(path("prometheus.yml"), config(job, new URL(target).host, rules));
  const daemon = await startDaemon(
    "/bin/sh",
    [
      "-c",
      'exec prometheus "$@" 2>"$0"',
      path("log"),
      `--config.file=${path("prometheus.yml")}`,
      `--storage.tsdb.path=${path("data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { ports: [port], logs: () => readFileSync(path("log"), "utf8") },
  );
  const close = async (): Promise<void> => {
    await daemon.stop();
    home.remove();
  };
  const ask = async (api: string): Promise<unknown> => {
    const response = await fetch(new URL(`/api/v1/${api}`, url));
    const answer = (await response.json()) as { status: string; data: unknown; error?: string };
    if (answer.status !== "success") throw new Error(answer.error);
    return answer.data;
  };
  // It listens before it knows what it has on its disk.
  while (!(await fetch(`${url}/-/ready`)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
  const query = async (expression: string): Promise<QueriedSample[]> =>
    samplesOf((await ask(`query?query=${encodeURIComponent(expression)}`)) as QueryData);
  return {
    url,
    query,
    async value(expression) {
      const samples = await query(expression);
      if (samples.length !== 1) throw new Error(`${expression} finds ${samples.length} series`);
      return samples[0]!.value;
    },
    async scraped() {
      const sinceMs = Date.now();
      for (;;) {
        const { activeTargets } = (await ask("targets?state=active")) as { activeTargets: readonly Target[] };
        const [one] = activeTargets;
        // The first one takes five seconds: targets are taken up at most that often.
        if (one !== undefined && Date.parse(one.lastScrape) >= sinceMs) {
          if (one.health === "up") return;
          // A machine that is busy is given another chance.
          if (!one.lastError.includes("deadline exceeded")) throw new Error(`the scrape failed: ${one.lastError}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Target {
  readonly health: "up" | "down" | "unknown";
  /** ISO 8601, when it began. */
  readonly lastScrape: string;
  readonly lastError: string;
}

type Point = readonly [seconds: number, value: string];

type QueryData =
  | { readonly resultType: "vector"; readonly result: readonly { readonly metric: object; readonly value: Point }[] }
  | { readonly resultType: "scalar"; readonly result: Point };

const samplesOf = (data: QueryData): QueriedSample[] =>
  data.resultType === "scalar"
    ? [{ labels: {}, value: numberOf(data.result[1]) }]
    : data.result.map(({ metric, value }) => ({ labels: { ...metric }, value: numberOf(value[1]) }));

const numberOf = (text: string): number => (text.endsWith("Inf") ? Number(`${text}inity`) : Number(text));

/** https://prometheus.io/docs/prometheus/latest/configuration/configuration/ */
const config = (job: string, host: string, rules: readonly string[]): string =>
  JSON.stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    scrape_configs: [{ job_name: job, static_configs: [{ targets: [host] }] }],
    rule_files: rules,
  });

export interface PromtoolResult {
  /** 0: nothing to say; 3: what is linted could be better. */
  readonly code: number | null;
  /** Of both streams. */
  readonly output: string;
}

/** `promtool check metrics`, with `input` on its standard input. */
export function promtool(args: readonly string[], input = ""): PromtoolResult {
  const { status, stdout, stderr, error } = spawnSync("promtool", [...args], { input, encoding: "utf8" });
  if (error) throw error;
  return { code: status, output: `${stdout}${stderr}` };
}
