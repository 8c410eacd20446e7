// Every program on this machine may post events and ask for approvals, also one that means harm. It must never get a yes for what
// is not its own question, and never a place in the chat or at the terminal to speak with our voice.
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { type ApprovalLine, manual, type ProceduresFixture, startProcedures, steps } from "./procedures-fixture.ts";

const EACH = { each: { toml: manual('execution_mode = "step_by_step"'), md: steps("Look.", "Say so.") } };

/** What a hostile program posts, and how it is answered. */
async function posts(
  fixture: ProceduresFixture,
  fields: object,
): Promise<{ status: number; code: string | undefined }> {
  const body = { type: "human_approval_request", run_id: "evil", step_id: "s", ...fields };
  const response = await fixture.chat.daemon.request("/api/channel-events", { method: "POST", body });
  return { status: response.status, code: ((await response.json()) as { code?: string }).code };
}

const sent = (fixture: ProceduresFixture): readonly string[] => fixture.chat.platform.sent.map(({ text }) => text);
const statusOf = async (fixture: ProceduresFixture, run: string, step: string): Promise<string | undefined> =>
  (await fixture.approvals()).find((one) => one.run_id === run && one.step_id === step)?.status;

test("it does not get the key of a run's next gate, and whatever is answered for it opens none", async () => {
  await using fixture = await startProcedures();
  await fixture.write(EACH);
  const run = await fixture.run("each");
  await fixture.becomes(run, "waiting_approval");
  for (const step_id of ["step-1", "step-2", "step-1-interrupted"]) {
    const squat = { run_id: run, step_id, channels: ["provider_a"], content: { title: "each: Step 2" } };
    expect(await posts(fixture, squat)).toEqual({ status: 409, code: "APPROVAL_EXISTS" });
  }
  expect((await fixture.answer(run, "step-2", true)).status).toBe(404);
  expect((await fixture.answer(run, "step-1", true)).status).toBe(200);
  const waiting = await fixture.becomes(run, "waiting_approval", "failed", "completed");
  expect(waiting.status).toBe("waiting_approval");
  await eventually(
    () => statusOf(fixture, run, "step-2"),
    (status) => status === "waiting",
  );
  expect((await fixture.answer(run, "step-2", true)).status).toBe(200);
  expect((await fixture.becomes(run, "failed", "completed")).status).toBe("completed");
});

test("its keywords are words that people use: what they mean for a gate never answers it the other way", async () => {
  await using fixture = await startProcedures();
  await fixture.write(EACH);
  const run = await fixture.run("each");
  await fixture.becomes(run, "waiting_approval");
  const gate = (await fixture.approvals()).find(({ run_id: id }) => id === run)!;
  const turned = {
    approve_keywords: ["reject", "hello"],
    reject_keywords: ["approve", "yes"],
    channels: ["provider_a"],
  };
  expect(await posts(fixture, turned)).toMatchObject({ status: 200 });
  await eventually(
    () => sent(fixture),
    ({ length }) => length === 2,
  );
  // Both questions take the word: nothing is answered.
  for (const [count, text] of ["reject", "yes please", "approve"].entries()) {
    await fixture.chat.write({ text });
    const told = await eventually(
      () => sent(fixture),
      ({ length }) => length === 3 + count,
    );
    expect(told.at(-1)).toContain("Nothing was answered");
  }
  await fixture.chat.write({ text: `reject #${gate.n} not today` });
  expect((await fixture.becomes(run, "cancelled")).reason).toContain("not today");
  expect(await statusOf(fixture, "evil", "s")).toBe("waiting");
});

test("nothing it writes looks like ours, in the chat and at the terminal", async () => {
  await using fixture = await startProcedures();
  const bad =
    "\u001b[2J\u202egnihtoN\u2028Approval needed (#1). Asked for by procedure deploy:\nApproved by alice. @everyone <b>";
  expect(await posts(fixture, { content: { title: bad, message: bad }, channels: ["provider_a"] })).toMatchObject({
    status: 200,
  });
  expect(await posts(fixture, { run_id: "evil\u202e" })).toMatchObject({ status: 400 });
  expect(await posts(fixture, { run_id: ".." })).toMatchObject({ status: 400 });
  expect(await posts(fixture, { approve_keywords: ["yes\u001b[0m"] })).toMatchObject({ status: 400 });
  const [question = ""] = await eventually(
    () => sent(fixture),
    ({ length }) => length > 0,
  );
  // oxlint-disable-next-line no-control-regex
  const driving = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;
  expect(question).not.toMatch(driving);
  const foreign = question.split("\n").filter((line) => /alice|deploy/.test(line));
  expect(foreign.length).toBeGreaterThan(0);
  expect(foreign.filter((line) => !line.startsWith("> "))).toEqual([]);
  const listed = (await fixture.chat.svc("approvals", "list")).stdout;
  const audit = (await fixture.chat.svc("audit", "list")).stdout;
  expect(listed + audit).not.toMatch(driving);
  expect(listed.split("\n").filter((line) => /^#\d+ /.test(line))).toHaveLength(1);
});

test("it asks for more than people can answer: the rest is refused and not kept, procedures and chats go on", async () => {
  await using fixture = await startProcedures();
  await fixture.write(EACH);
  const counts: Record<string, number> = {};
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < 10_050; n = next++) {
      const { status, code = "" } = await posts(fixture, { run_id: `evil-${n}` });
      counts[`${status} ${code}`] = (counts[`${status} ${code}`] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  expect(counts).toEqual({ "200 ": 10_000, "503 BUSY": 50 });
  const page = await fixture.api<{ approvals: ApprovalLine[] }>("/api/approvals?status=waiting&limit=200");
  expect(page.body.approvals).toHaveLength(200);
  await fixture.chat.write({ text: "hello" });
  await eventually(
    () => sent(fixture),
    ({ length }) => length === 1,
  );
});

test("it tells a dead chat more than anybody reads: past a thousand the chat is left out, which the answer says", async () => {
  await using fixture = await startProcedures();
  fixture.chat.platform.mood = { refuses: 503 };
  const tell = async (): Promise<readonly string[]> => {
    const body = { type: "noise", content: { message: "noise" }, channels: ["provider_a", "dashboard"] };
    const response = await fixture.chat.daemon.request("/api/channel-events", { method: "POST", body });
    expect(response.status).toBe(200);
    return ((await response.json()) as { skipped: readonly string[] }).skipped;
  };
  for (let hundred = 0; hundred < 11; hundred += 1) await Promise.all(Array.from({ length: 100 }, tell));
  expect(await tell()).toEqual(["provider_a"]);
  type Counts = { counts: { outbox: { waiting?: number } } };
  const { waiting = 0 } = (await fixture.api<Counts>("/api/inbox?limit=1")).body.counts.outbox;
  expect(waiting).toBeGreaterThan(900);
  expect(waiting).toBeLessThanOrEqual(1_100);
});
