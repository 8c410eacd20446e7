// Operators believe what docs/operations says: a table, a dashboard or an alert with a series that is not there is worse than none.
import { describe, expect, test } from "vitest";
import {
  alertsText,
  alertTestsText,
  busyMetrics,
  dashboard,
  expressions,
  pageText,
  type Panel,
  seriesIn,
} from "./operations.ts";

async function exposed(): Promise<ReadonlySet<string>> {
  await using metrics = await busyMetrics();
  return new Set((await metrics.families()).keys());
}

/** Rows of the table of series. */
const tableRows = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => /^\| `(?:svc|process|nodejs)_/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

test("the page has every series, with its type, its labels and what it says of itself", async () => {
  await using metrics = await busyMetrics();
  const families = [...(await metrics.families()).values()];
  const rows = families.map(({ name, type, help, samples }) => {
    const labels = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== "le");
    return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(", "), help];
  });
  expect(families.filter(({ samples }) => samples.length === 0).map(({ name }) => name)).toEqual([]);
  expect(tableRows(pageText())).toEqual(rows);
});

const named = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = ""]) => name);

describe("alerts", () => {
  const alerts = named(alertsText(), /^ *- alert: (\w+)$/gm);

  test("each is on the page, in this order, and each on the page exists", () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(named(pageText(), /^\| `(Svc\w+)` /gm)).toEqual(alerts);
  });

  test("each is heard in a test", () => {
    const tested = named(alertTestsText(), /^ +alertname: (\w+)\n +exp_alerts:\n/gm);
    expect(tested.toSorted()).toEqual(alerts.toSorted());
  });

  test("they look at series that exist", async () => {
    const known = await exposed();
    expect(seriesIn(alertsText()).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("the dashboard", () => {
  const { panels, schemaVersion, templating } = dashboard();

  test("is of the last version of the classic model, for any data source and any instance", () => {
    expect(schemaVersion).toBe(42);
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ["datasource", "datasource"],
      ["instance", "query"],
    ]);
    const source = { type: "prometheus", uid: "${datasource}" };
    for (const panel of panels.filter(({ type }) => type !== "row")) {
      expect(panel.datasource).toEqual(source);
      expect(panel.targets?.map(({ datasource }) => datasource)).toEqual(panel.targets?.map(() => source));
    }
    const selected = /\{[^{}]*instance=~"\$instance"/;
    expect(expressions().filter(({ expr }) => !selected.test(expr))).toEqual([]);
  });

  test("has panels that do not lie on each other, within its 24 columns", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(cellsOf);
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test("looks at series that exist, and at every one of the service", async () => {
    const known = await exposed();
    const used = new Set(expressions().flatMap(({ expr }) => seriesIn(expr)));
    expect([...used].filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => name.startsWith("svc_") && !used.has(name))).toEqual([]);
  });
});

const cellsOf = ({ gridPos: { x, y, w, h } }: Panel): string[] =>
  Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`);
