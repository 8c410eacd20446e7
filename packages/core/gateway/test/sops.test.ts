// A run that somebody starts, reads or ends who may not; a list that leaves something out, or shows it twice.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { type Call, call } from "./http.ts";

const started = async () => {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator", "phone"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  const gateway = await harness.start();
  const ask = (path: string, changed: Call = {}, token = tokens.operator) =>
    call(gateway, { path, ...changed, headers: { authorization: `Bearer ${token}`, ...changed.headers } });
  return { gateway, tokens, ask };
};

const json = (body: string): Call => ({ method: "POST", headers: { "content-type": "application/json" }, body });

describe("procedures", () => {
  test("are listed with what starts them, and with those that are broken, for whoever may read", async () => {
    const { ask, tokens } = await started();
    const { status, json } = await ask("/api/sops", {}, tokens.read);
    expect([status, json.broken]).toEqual([200, [{ name: "torn", problem: "There is no [sop]." }]]);
    expect(json.sops[0]).toMatchObject({
      name: "deploy",
      cooldown_secs: 60,
      triggers: [
        { type: "webhook", path: "/sop/deploy", condition: "$.ref == 'main'" },
        { type: "cron", timezone: "Europe/Berlin", next_at: "1970-01-01T00:00:05.000Z" },
        { type: "channel_event", event: "build" },
        { type: "manual" },
      ],
      last_run: { id: "run-1", status: "completed" },
    });
    expect(json.sops[1]).toMatchObject({ name: "quiet", agent: "ops", last_run: null });
    expect((await ask("/api/sops", {}, tokens.webhook)).status).toBe(403);
  });

  test("tell what somebody wrote who was asked to nobody but an operator", async () => {
    const { gateway, ask, tokens } = await started();
    gateway.sops.runRows[0] = { ...gateway.sops.runRows[0]!, reason: "Rejected by ann: no" };
    const reason = async (token: string) => (await ask("/api/sops", {}, token)).json.sops[0].last_run.reason;
    expect([await reason(tokens.operator), await reason(tokens.read)]).toEqual(["Rejected by ann: no", null]);
  });

  test("are started by name, with any JSON or none, and it is kept who did", async () => {
    const { gateway, ask } = await started();
    for (const body of ['{"ref":"main"}', "null", " [1,2] "]) {
      const answer = await ask("/api/sops/deploy/runs", json(body));
      expect([answer.status, answer.json]).toEqual([202, { sop: "deploy", run_id: "run-3" }]);
      expect(gateway.sops.runRows.at(-1)).toMatchObject({ payload: body, startedBy: "device phone" });
    }
    expect((await ask("/api/sops/deploy/runs", { method: "POST" })).status).toBe(202);
    expect(gateway.sops.runRows.at(-1)?.payload).toBeNull();
  });

  test("are not started by what is wrong: no JSON, another type, too much, an unknown or busy one", async () => {
    const { gateway, ask } = await started();
    const code = async (path: string, call: Call) => (await ask(path, call)).json.code;
    expect(await code("/api/sops/deploy/runs", json("{"))).toBe("BAD_JSON");
    expect(await code("/api/sops/deploy/runs", json(`${"[".repeat(200)}${"]".repeat(200)}`))).toBe("BAD_JSON");
    expect(await code("/api/sops/deploy/runs", { method: "POST", body: "x=1" })).toBe("BAD_CONTENT_TYPE");
    expect(await code("/api/sops/deploy/runs", json(`"${"x".repeat(5_000)}"`))).toBe("TOO_LARGE");
    expect(await code("/api/sops/nobody/runs", json("{}"))).toBe("SOP_UNKNOWN");
    expect(await code("/api/sops/by-webhook/runs", json("{}"))).toBe("SOP_NOT_MANUAL");
    gateway.sops.fails = new SvcError("SOP_BUSY", "It cools down until 12:00.", { retryAfterMs: 60_000 });
    const busy = await ask("/api/sops/deploy/runs", json("{}"));
    expect([busy.status, busy.json.error, busy.headers["retry-after"]]).toEqual([
      409,
      "It cools down until 12:00.",
      "60",
    ]);
    expect(gateway.sops.runRows).toHaveLength(2);
  });
});

describe("runs", () => {
  test("are listed the newest first, of one procedure, in one state, a page at a time", async () => {
    const { gateway, ask } = await started();
    const ids = async (query: string) =>
      (await ask(`/api/sop-runs${query}`)).json.runs.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual(["run-2", "run-1"]);
    expect(await ids("?status=completed")).toEqual(["run-1"]);
    expect(await ids("?sop=other")).toEqual([]);
    expect((await ask("/api/sop-runs?limit=1")).json.before).toBe(2);
    expect(await ids("?limit=1&before=2")).toEqual(["run-1"]);
    expect(gateway.sops.asked.at(-1)).toEqual({ before: 2 });
    expect((await ask("/api/sop-runs?status=nothing")).status).toBe(400);
    expect((await ask(`/api/sop-runs?sop=${"x".repeat(129)}`)).status).toBe(400);
  });

  test("are shown with every step there is, also those to come, and with what they wait for", async () => {
    const { gateway, ask } = await started();
    // Of an outside workflow, as the first step's own would be named.
    expect(gateway.approvals.get({ runId: "run-2", stepId: "step-1" })).toMatchObject({ origin: "external" });
    gateway.approvals.add({ runId: "run-2", stepId: "step-2", origin: "sop" });
    const { json } = await ask("/api/sop-runs/run-2");
    expect([json.id, json.status, json.payload]).toEqual(["run-2", "running", '{"ref":"main"}']);
    expect(json.steps).toMatchObject([
      { number: 1, title: "Build", status: "completed", output: { built: true }, approval: null },
      {
        number: 2,
        kind: "checkpoint",
        status: "waiting_approval",
        ended_at: null,
        approval: { run_id: "run-2", status: "waiting" },
      },
      { number: 3, title: "Tell", status: "pending", started_at: null, output: null, approval: null },
    ]);
    expect((await ask("/api/sop-runs/nothing")).status).toBe(404);
  });

  test("are ended by an operator, once", async () => {
    const { ask } = await started();
    const cancel = () => ask("/api/sop-runs/run-2/cancel", { method: "POST" });
    expect((await cancel()).json).toMatchObject({
      id: "run-2",
      status: "cancelled",
      reason: "Cancelled by device phone.",
    });
    expect((await cancel()).json.code).toBe("SOP_RUN_ENDED");
  });

  test("are other people's words: no reader's, and nobody's to start or end but an operator's", async () => {
    const { gateway, ask, tokens } = await started();
    for (const token of [tokens.read, tokens.webhook]) {
      for (const [path, changed] of [
        ["/api/sop-runs", {}],
        ["/api/sop-runs/run-2", {}],
        ["/api/sop-runs/run-2/cancel", { method: "POST" }],
        ["/api/sops/deploy/runs", json("{}")],
        ["/api/audit", {}],
      ] as const) {
        expect([path, (await ask(path, changed, token)).json.code]).toEqual([path, "FORBIDDEN_SCOPE"]);
      }
    }
    expect(gateway.sops.runRows.map(({ status }) => status)).toEqual(["completed", "running"]);
  });
});

test("the audit log is read a page at a time, the newest line first", async () => {
  const { ask } = await started();
  const first = await ask("/api/audit?limit=2");
  expect(first.json.entries.map(({ n }: { n: number }) => n)).toEqual([3, 2]);
  expect(first.json.entries[0]).toEqual({
    n: 3,
    at: "1970-01-01T00:00:03.000Z",
    kind: "sop-run-start",
    data: { run_id: "run-3" },
    hash: "0".repeat(64),
  });
  const last = await ask(`/api/audit?limit=2&before=${first.json.before}`);
  expect([last.json.entries.length, last.json.before]).toEqual([1, null]);
});
