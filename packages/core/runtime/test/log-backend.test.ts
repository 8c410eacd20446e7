// The default backend: whoever looks into the log finds what happened, line by line and by field, and nobody's words, names
// or numbers. Whoever asks for a backend that the build does not have gets this one, and is told so.
import type { CatalogueEntry, FeatureDefinition, SvcEvent } from "@svc/contract";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "@svc/config";
import { logBackend } from "../src/index.ts";
import { CATALOGUE, FEATURES, makeFixture } from "@svc/config/fixtures";
import { SAMPLES } from "./event-samples.ts";
import { captureLog } from "./fake-features.ts";

function told(events: readonly SvcEvent[], isOn = () => true) {
  const { log, lines } = captureLog();
  const observer = logBackend({ log, isOn });
  for (const event of events) observer.record(event);
  return lines;
}

describe("lines", () => {
  test("are one of information for each turn, message, delivery, approval and run", () => {
    expect(told(SAMPLES)).toEqual([
      {
        level: "info",
        message: "a model call failed; will retry",
        turn: "t-1",
        code: "MODEL_REFUSED",
        reason: "rate-limited",
        retry_in_ms: 7000,
        attempt: 2,
      },
      {
        level: "info",
        message: "a turn ended",
        turn: "t-1",
        agent: "default",
        model: "m",
        ok: true,
        duration_ms: 3,
        input_tokens: 1,
        output_tokens: 2,
        cost_usd: undefined,
      },
      { level: "info", message: "a message came in", messageId: "in-1", channel: "c", turn: "t-1" },
      { level: "info", message: "a message was delivered", messageId: "out-1", channel: "c", attempts: 1 },
      {
        level: "info",
        message: "a message was given up",
        messageId: "out-1",
        channel: "c",
        turn: "t-1",
        code: "DELIVERY_REFUSED",
      },
      { level: "info", message: "an approval is asked for", run: "r", step: "s", origin: "external" },
      { level: "info", message: "an approval is settled", run: "r", step: "s", outcome: "approved" },
      { level: "info", message: "a run of a procedure began", run: "r", sop: "deploy", mode: "auto" },
      {
        level: "info",
        message: "a run of a procedure ended",
        run: "r",
        sop: "deploy",
        status: "completed",
        error: undefined,
        duration_ms: 5,
      },
    ]);
  });

  test("tell what a turn cost, and whether it failed", () => {
    const end = SAMPLES.find((event) => event.type === "turn-end")!;
    expect(told([{ ...end, ok: false, durationMs: 3.7, costUsd: 0.25 }])).toMatchObject([
      { message: "a turn failed", ok: false, duration_ms: 4, cost_usd: 0.25 },
    ]);
  });

  test("have no word of a person's, no sender, no conversation, no owner", () => {
    const words = JSON.stringify(told(SAMPLES.map(marked)));
    expect(words).not.toContain("PRIVATE");
  });

  test("are none as soon as another backend is in force", () => {
    let isOn = true;
    const lines = told([...SAMPLES, ...SAMPLES], () => {
      const was = isOn;
      isOn = false;
      return was;
    });
    expect(lines).toHaveLength(0);
    expect(told(SAMPLES, () => false)).toEqual([]);
  });
});

const PUBLIC = new Set(
  "type turnId messageId channel agent model runId stepId origin outcome sop mode status code reason".split(" "),
);

/** With every text that is not of the config or an id of ours replaced. */
const marked = (event: SvcEvent): SvcEvent =>
  JSON.parse(JSON.stringify(event), (name, value: unknown) =>
    typeof value === "string" && !PUBLIC.has(name) ? `PRIVATE ${value}` : value,
  ) as SvcEvent;

describe("the backend in force", () => {
  const watcher = (backend: string): FeatureDefinition => ({
    id: `observability-${backend}`,
    extends: "observability",
    when: (section) => section["backend"] === backend,
    load: () => Promise.reject(new Error("the config never loads a feature")),
  });
  const absent = (id: string, rest: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
    ...CATALOGUE[0]!,
    id,
    flag: id,
    kind: "observer",
    sections: ["observability"],
    included: false,
    profiles: ["full"],
    build: `npx pnpm build home --with ${id}`,
    ...rest,
  });
  async function loaded(backend: string | undefined, features = FEATURES, catalogue: readonly CatalogueEntry[] = []) {
    const fixture = makeFixture();
    onTestFinished(fixture.remove);
    fixture.write(backend === undefined ? "" : `[observability]\nbackend = "${backend}"\n`);
    return loadConfig({ home: fixture.home, env: {}, features, catalogue });
  }

  test.each([
    [undefined, "log"],
    ["log", "log"],
    ["none", "none"],
    ["noop", "none"],
  ])("%s is %s, in any build", async (backend, inForce) => {
    const config = await loaded(backend);
    expect([config.backend, config.warnings]).toEqual([inForce, []]);
  });

  test.each([
    ["metrics", "metrics"],
    ["otel", "otel"],
    ["otlp", "otel"],
    ["opentelemetry", "otel"],
  ])("%s is %s where the feature is in the build", async (backend, inForce) => {
    const config = await loaded(backend, [...FEATURES, watcher(inForce)]);
    expect([config.backend, config.warnings]).toEqual([inForce, []]);
  });

  test.each([
    ["metrics", "observability-metrics"],
    ["opentelemetry", "observability-otel"],
  ])(
    "%s is log where it is not, and the warning names %s, the build and what happens meanwhile",
    async (backend, id) => {
      const other = watcher(backend === "metrics" ? "otel" : "metrics");
      const config = await loaded(backend, [...FEATURES, other], [absent(id)]);
      expect(config.backend).toBe("log");
      expect(config.warnings).toEqual([
        `observability.backend: this key needs the feature ${id}, not in this build; profiles that have it: full; ` +
          `build it in with: npx pnpm build home --with ${id}; until then, turns and deliveries are written to the log (backend "log")`,
      ]);
    },
  );
});
