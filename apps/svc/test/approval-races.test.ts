// Two people who answer at the same instant must not both believe that their word counted.
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { EventReader } from "./governed-fixture.ts";
import {
  type Answered,
  type ApprovalLine,
  manual,
  type ProceduresFixture,
  startProcedures,
  steps,
} from "./procedures-fixture.ts";

/** Whether it counted, and what was said. */
interface Outcome {
  readonly via: string;
  readonly won: boolean;
  readonly told: string;
}

interface Key {
  readonly n: number;
  readonly run_id: string;
  readonly step_id: string;
}

type Answerer = (fixture: ProceduresFixture, key: Key, approved: boolean) => Promise<Outcome>;

interface Refused {
  readonly by?: string;
  readonly at?: string;
}

function overHttp(via: string, { status, body }: Answered<Refused>): Outcome {
  if (status === 200) return { via, won: true, told: "" };
  expect([status, body.code, typeof body.by, Date.parse(body.at!) > 0]).toEqual([
    409,
    "APPROVAL_RESOLVED",
    "string",
    true,
  ]);
  return { via, won: false, told: body.error! };
}

const byApi: Answerer = async (fixture, { run_id: runId, step_id: stepId }, approved) =>
  overHttp("api", (await fixture.answer(runId, stepId, approved)) as Answered<Refused>);

const atTerminal: Answerer = async (fixture, { n }, approved) => {
  const { code, stdout, stderr } = await fixture.chat.svc("approvals", approved ? "approve" : "reject", String(n));
  if (code !== 0) expect([code, stderr]).toEqual([64, expect.stringContaining("APPROVAL_RESOLVED")]);
  return { via: "cli", won: code === 0, told: code === 0 ? stdout : stderr };
};

/** Whoever wins there finds his own words in what he is told. */
const inChat: Answerer = async (fixture, { n }, approved) => {
  const { platform } = fixture.chat;
  const before = platform.sent.length;
  await fixture.chat.write({ text: `${approved ? "approve" : "reject"} #${n} by chat` });
  const isAnswer = (text: string): boolean => text.includes("> by chat") || text.startsWith("It is over already");
  const told = await eventually(
    () => platform.sent.slice(before).find(({ text }) => isAnswer(text))?.text ?? "",
    (text) => text !== "",
  );
  return { via: "chat", won: told.includes("> by chat"), told };
};

async function signedIn(fixture: ProceduresFixture): Promise<Answerer> {
  const { url } = fixture.chat.daemon;
  const answer = await fetch(`${url}/api/session`, {
    method: "POST",
    headers: { origin: url, authorization: `Bearer ${fixture.token}` },
  });
  const { csrf } = (await answer.json()) as { csrf: string };
  const cookie = /^svc_session=[^;]+/.exec(answer.headers.get("set-cookie")!)![0];
  return async (_, { run_id: runId, step_id: stepId }, approved) => {
    const response = await fetch(`${url}/api/approvals/${runId}/${stepId}`, {
      method: "POST",
      headers: { origin: url, cookie, "x-svc-csrf": csrf, "content-type": "application/json" },
      body: JSON.stringify({ approved }),
    });
    return overHttp("page", { status: response.status, body: (await response.json()) as never });
  };
}

const EXTERNAL = {
  type: "human_approval_request",
  content: { title: "Release", message: "All is green." },
  channels: ["provider_a"],
};

async function asked(fixture: ProceduresFixture, round: number): Promise<ApprovalLine> {
  const isGate = round % 2 === 1;
  if (isGate) await fixture.run("gated");
  else await fixture.api("/api/channel-events", { ...EXTERNAL, run_id: `build-${round}`, step_id: "release" });
  const [approval] = await eventually(
    () => fixture.approvals("waiting"),
    ({ length }) => length > 0,
  );
  await fixture.delivered();
  return approval!;
}

/** Before the others, so long as a process takes to begin: each round another one is first. */
const HEAD_STARTS_MS = [0, 150, 60, 100, 80, 120, 0, 300];

test("of four who answer at once one is first, and all others are told who and when", async () => {
  await using fixture = await startProcedures({ config: "[sop]\nmax_concurrent_total = 100\n" });
  await fixture.write({ gated: { toml: manual('execution_mode = "supervised"'), md: steps("Say so.") } });
  const answerers: readonly Answerer[] = [byApi, await signedIn(fixture), inChat];
  await using events = await EventReader.open(fixture.chat.daemon.url, fixture.token);
  const winners: string[] = [];
  for (const [round, headStartMs] of HEAD_STARTS_MS.entries()) {
    const approval = await asked(fixture, round);
    const terminal = atTerminal(fixture, approval, round % 4 < 2);
    await new Promise((resolve) => setTimeout(resolve, headStartMs));
    const inTurn = [...answerers.slice(round % 3), ...answerers.slice(0, round % 3)];
    const others = inTurn.map((answer, index) => answer(fixture, approval, (index + round) % 2 === 0));
    const outcomes = await Promise.all([terminal, ...others]);
    const won = outcomes.filter((outcome) => outcome.won);
    expect(won.map(({ via }) => via)).toEqual([expect.any(String)]);
    winners.push(won[0]!.via);
    const kept = (await fixture.approvals()).find(({ n }) => n === approval.n)!;
    expect(kept.answer!.via).toBe(won[0]!.via);
    const { by, at } = kept.answer!;
    const word = kept.answer!.approved ? "approved" : "rejected";
    const when = at.slice(0, 16).replace("T", " ");
    const lost = outcomes.filter((outcome) => !outcome.won);
    const who = new RegExp(`It is over already: ${word} by ${escaped(by)}.*at ${when} UTC`);
    expect(lost.map(({ told }) => told)).toEqual(lost.map(() => expect.stringMatching(who)));
    if (approval.origin === "sop") {
      await fixture.becomes(approval.run_id, kept.answer!.approved ? "completed" : "cancelled");
    }
  }
  const numbers = HEAD_STARTS_MS.map((_, round) => round + 1);
  const resolved = events.ofType("human_approval_resolved").map(({ payload }) => payload["by"]);
  expect(resolved).toHaveLength(numbers.length);
  const answers = (await fixture.audit()).filter(({ kind }) => kind === "approval-answer");
  expect(answers.map(({ data }) => (data as { n?: number }).n)).toEqual(numbers);
  // Otherwise nobody was ever in anybody's way.
  expect(new Set(winners).size).toBeGreaterThan(1);
});

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
