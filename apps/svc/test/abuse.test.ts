// A hostile client must not get a 5xx, a hang, a crash, a foreign answer or a secret out of the real binary, nor keep others
// from being served. `pnpm fuzz` is the same with fifty times as many requests.
import { type CampaignReport, runCampaign, violationLines } from "@svc/fuzz";
import { expect, test } from "vitest";

/** The slow ones leave after a while: the server's own limits on them are minutes, which `pnpm fuzz` waits for. */
const PATIENCE = { promptMs: 180_000, slowMs: "leave" } as const;
const COMMON = { seed: 9, width: 32, quietMs: 500, settleMs: 180_000, patience: PATIENCE };

const answersOf = ({ endpoints }: CampaignReport, name: string): Readonly<Record<string, number>> =>
  endpoints.find(({ endpoint }) => endpoint === name)?.answers ?? {};

function expectNothingFound(report: CampaignReport): void {
  expect([...violationLines([...report.endpoints, ...report.slow]), ...report.problems]).toEqual([]);
}

/** Minutes of work: a slow machine beside other work must not reach it. */
const LIMIT = { timeout: 3_600_000 };

test("hostile requests to every endpoint, slow clients and ten thousand idle connections", LIMIT, async () => {
  const report = await runCampaign({ ...COMMON, trusting: true, count: 200, slow: 2, idle: 10_000 });
  expectNothingFound(report);
  // Got past the first checks, or all of this would prove nothing.
  expect(Object.keys(answersOf(report, "POST /webhook"))).toEqual(
    expect.arrayContaining([
      "200",
      "400 BAD_JSON",
      "400 BAD_BODY",
      "401 UNAUTHORIZED",
      "413 TOO_LARGE",
      "415 BAD_CONTENT_TYPE",
    ]),
  );
  expect(Object.keys(answersOf(report, "POST /pair"))).toContain("403 BAD_PAIRING_CODE");
  for (const path of ["/health", "/metrics", "/openapi.json", "/api/status"]) {
    expect(answersOf(report, `GET ${path}`)).toHaveProperty("200");
  }
  const opened = { "GET /": "200", "GET /ws": "101", "GET /api/events": "200", "POST /api/session": "200" };
  const governed = { "POST /sop/fuzz": "202", "POST /api/channel-events": "200", "GET /api/sop-runs/{id}": "200" };
  for (const [name, answer] of Object.entries({ ...opened, ...governed })) {
    expect([name, answersOf(report, name)]).toEqual([name, expect.objectContaining({ [answer]: expect.any(Number) })]);
  }
  // Well-behaved clients are served all the while. `pnpm fuzz` measures how fast; no test depends on it.
  expect(report.paces["storm"]?.served).toBeGreaterThan(0);
  expect(report.idle?.served).toBe(true);
});

test(
  "a flood of made-up addresses out of one peer is one client's, while forwarding headers are not believed",
  LIMIT,
  async () => {
    const report = await runCampaign({ ...COMMON, trusting: false, count: 100, slow: 0, idle: 0, only: "POST /" });
    expectNothingFound(report);
    expect(answersOf(report, "POST /webhook")).toHaveProperty("429 RATE_LIMITED");
    expect(answersOf(report, "POST /pair")).toHaveProperty("429 RATE_LIMITED");
  },
);
