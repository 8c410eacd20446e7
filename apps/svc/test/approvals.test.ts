// The whole way of an approval, with the real binary: an outside workflow asks, people see it in a chat and on the stream, one
// of them answers, everybody is told, and none of it is forgotten by a kill.
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { eventually, PERSON } from "./channel-fixture.ts";
import { EventReader, startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

interface ApprovalLine {
  readonly run_id: string;
  readonly step_id: string;
  readonly origin: string;
  readonly status: string;
  readonly answer: { readonly by: string; readonly via: string; readonly feedback: string | null } | null;
}

const REQUEST = {
  type: "human_approval_request",
  content: { title: "Release 1.4", message: "All tests are green." },
  channels: ["provider_a", "dashboard"],
  run_id: "build-17",
  step_id: "release",
};

test("an outside workflow asks; a kill later a reply in the chat answers, and everybody is told", async () => {
  await using fixture = await startGovernedFixture();
  const token = await fixture.daemon.pair();
  const post = (body: object = REQUEST): Promise<Response> =>
    fixture.daemon.request("/api/channel-events", { method: "POST", body });
  await using before = await EventReader.open(fixture.daemon.url, token);
  const first = await post();
  expect(first.status).toBe(200);
  const told = (await first.json()) as { event_id: string };
  expect(told).toEqual({ ok: true, event_id: expect.any(String), skipped: [] });
  const asked = await eventually(
    () => before.ofType("human_approval_request"),
    ({ length }) => length > 0,
  );
  expect(asked.map(({ id, payload }) => [id, payload["run_id"], payload["step_id"]])).toEqual([
    [told.event_id, "build-17", "release"],
  ]);
  // Nothing is asked twice, whoever posts it again.
  expect(await (await post()).json()).toEqual(told);
  expect((await post({ ...REQUEST, content: { title: "another" } })).status).toBe(409);
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  expect(fixture.platform.sent[0]).toMatchObject({ to: PERSON });

  await fixture.daemon.kill9();
  fixture.daemon = await startBinary({ home: fixture.home });
  await using after = await EventReader.open(fixture.daemon.url, token);
  await fixture.write({ text: "Approve  looks good" });
  const resolved = await eventually(
    () => after.ofType("human_approval_resolved"),
    ({ length }) => length > 0,
  );
  expect(resolved.map(({ payload }) => payload)).toEqual([
    expect.objectContaining({ run_id: "build-17", step_id: "release", approved: true, feedback: "looks good" }),
  ]);
  const { approvals } = await fixture.json<{ approvals: ApprovalLine[] }>("approvals", "list", "--status", "all");
  expect(approvals).toEqual([expect.objectContaining({ run_id: "build-17", origin: "external", status: "approved" })]);
  expect(approvals[0]!.answer).toMatchObject({ via: "chat", feedback: "looks good" });
  // The question once, the word to the one who answered once; the reply started no turn.
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length >= 2,
  );
  expect(fixture.platform.sent).toHaveLength(2);
  expect(await fixture.json("sessions", "list")).toEqual({ sessions: [] });
  // Later answers are told who was first.
  const late = await fixture.svc("approvals", "reject", "build-17", "release");
  expect(late.stderr).toContain("APPROVAL_RESOLVED");
});

test("a run that waits for its gate goes on after a kill when somebody approves it at the command line", async () => {
  await using fixture = await startGovernedFixture();
  writeProcedure(fixture.home, "deploy", {
    toml: `[sop]
description = "Deploys what was built."
execution_mode = "supervised"

[[triggers]]
type = "webhook"
path = "/sop/deploy"
condition = "$.version != ''"
`,
  });
  await fixture.svc("reload");
  const token = await fixture.daemon.pair();
  const trigger = (): Promise<Response> =>
    fixture.daemon.request("/sop/deploy", { method: "POST", token, body: { version: "1.4" } });
  const started = await eventually(trigger, ({ status }) => status === 202);
  expect(started.status).toBe(202);
  const { runs, skipped } = (await started.json()) as { runs: { sop: string; run_id: string }[]; skipped: object[] };
  expect(skipped).toEqual([]);
  const id = runs[0]!.run_id;
  // One at a time: the waiting run counts.
  expect(await (await trigger()).json()).toMatchObject({ runs: [], skipped: [{ sop: "deploy" }] });
  const show = (): Promise<{ status: string }> => fixture.json("sop", "show", id);
  expect((await eventually(show, ({ status }) => status === "waiting_approval")).status).toBe("waiting_approval");
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  await fixture.daemon.kill9();
  fixture.daemon = await startBinary({ home: fixture.home });
  expect((await show()).status).toBe("waiting_approval");
  expect((await fixture.svc("approvals", "approve", id)).code).toBe(0);
  expect((await eventually(show, ({ status }) => status !== "running" && status !== "waiting_approval")).status).toBe(
    "completed",
  );
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
  // The gate was asked once.
  expect(fixture.platform.sent.filter(({ text }) => text.includes("deploy")).length).toBeGreaterThan(0);
  const { approvals } = await fixture.json<{ approvals: ApprovalLine[] }>("approvals", "list", "--status", "all");
  expect(approvals).toEqual([
    expect.objectContaining({ run_id: id, step_id: "step-1", origin: "sop", status: "approved" }),
  ]);
});
