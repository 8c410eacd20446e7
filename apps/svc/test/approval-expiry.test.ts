// Nobody has to answer: but a question whose time is over must not be answered any more, must be told to be over, and must
// never be taken for a yes, whatever is killed or posted again meanwhile.
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { EventReader } from "./governed-fixture.ts";
import { missingWallClock, wallClock } from "./procedures-clock.ts";
import { type Answered, manual, startProcedures, steps } from "./procedures-fixture.ts";

const request = (runId: string, title = "Release") => ({
  type: "human_approval_request",
  content: { title, message: "All is green." },
  channels: ["provider_a"],
  run_id: runId,
  step_id: "release",
});

test("a question that nobody answers expires: 410, an event, a line of the log; the same again is nothing new", async (context) => {
  const missing = missingWallClock();
  if (missing) requireReal(context, missing);
  await using fixture = await startProcedures({ config: "[approvals]\nexpire_secs = 60\n" });
  const clock = wallClock(fixture.home);
  const post = (body: object): Promise<Answered<{ event_id?: string }>> => fixture.api("/api/channel-events", body);
  await fixture.killed();
  clock.set("2027-03-10T12:00:00Z");
  await fixture.begin(clock.env);
  await fixture.write({ gated: { toml: manual('execution_mode = "supervised"'), md: steps("Say so.") } });

  const first = await post(request("one"));
  expect([first.status, await post(request("one"))]).toEqual([200, first]);
  expect(await post(request("one", "Another"))).toMatchObject({ status: 409, body: { code: "APPROVAL_EXISTS" } });
  const gate = await fixture.run("gated");
  await fixture.becomes(gate, "waiting_approval");
  await fixture.delivered();
  await fixture.killed();
  await fixture.begin();
  expect(await post(request("one"))).toEqual(first);
  await fixture.delivered();
  const questions = (): number => fixture.chat.platform.sent.filter(({ replies }) => replies.length > 0).length;
  expect(questions()).toBe(2);

  await using events = await EventReader.open(fixture.chat.daemon.url, fixture.token);
  clock.set("2027-03-10T12:05:20Z");
  // Nobody has looked at the time yet: late is late all the same.
  expect(await fixture.answer("one", "release", true)).toMatchObject({
    status: 410,
    body: { code: "APPROVAL_EXPIRED" },
  });
  expect((await fixture.chat.svc("approvals", "approve", "one", "release")).stderr).toContain("APPROVAL_EXPIRED");
  // A new one has the registry look.
  expect((await post(request("two"))).status).toBe(200);
  expect(await fixture.becomes(gate, "cancelled")).toMatchObject({ error: "APPROVAL_EXPIRED" });
  await eventually(
    () => events.ofType("human_approval_resolved"),
    ({ length }) => length === 2,
  );
  const told = events.ofType("human_approval_resolved").map(({ payload }) => payload);
  expect(told.toSorted((one, other) => Number(one["run_id"] === gate) - Number(other["run_id"] === gate))).toEqual([
    expect.objectContaining({ run_id: "one", approved: false, outcome: "expired" }),
    expect.objectContaining({ run_id: gate, approved: false, outcome: "expired" }),
  ]);
  const logged = fixture.chat.daemon.output().match(/approval request expired/g);
  expect(logged).toHaveLength(2);
  // Who was asked is told, and a late word there is answered with how it ended.
  await fixture.delivered();
  const said = fixture.chat.platform.sent.map(({ text }) => text);
  expect(said.filter((text) => text.includes("not approved: no answer in time"))).toHaveLength(2);
  await fixture.chat.write({ text: "approve #1", atMs: Date.parse("2027-03-10T12:05:21Z") });
  const late = await eventually(
    () => fixture.chat.platform.sent.at(-1)!.text,
    (text) => text.startsWith("No answer"),
  );
  expect(late).toMatch(/^No answer in time: it expired at 2027-03-10 12:05 UTC/);

  await fixture.killed();
  await fixture.begin();
  expect((await fixture.answer("one", "release", true)).status).toBe(410);
  expect((await post(request("one"))).body.code).toBe("APPROVAL_EXISTS");
  // Set back: what was over stays over, and what waits is not kept waiting for ever.
  clock.set("2027-03-10T11:00:00Z");
  expect((await fixture.answer("one", "release", true)).status).toBe(410);
  expect((await fixture.answer("two", "release", true)).status).toBe(200);
  expect((await fixture.approvals()).map(({ run_id: id, status }) => `${id} ${status}`)).toEqual([
    "two approved",
    `${gate} expired`,
    "one expired",
  ]);
});
