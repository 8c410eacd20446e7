// A question that is lost, asked twice or answered twice, because the process was killed while it was asked or answered.
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import type { ChannelFixture } from "./channel-fixture.ts";
import { startGovernedFixture } from "./governed-fixture.ts";

const ROUNDS = 3;
const AT_ONCE = 15;

interface Listed {
  readonly n: number;
  readonly run_id: string;
  readonly status: string;
}

/** Sends all of `names` again and again until each is taken; the process is killed at some instant of each round. */
async function killedAround(
  fixture: ChannelFixture,
  names: readonly string[],
  send: (name: string) => Promise<boolean>,
) {
  const left = new Set(names);
  const sendAll = (): Promise<unknown> =>
    Promise.all(
      [...left].map(async (name) => {
        if (await send(name).catch(() => false)) left.delete(name);
      }),
    );
  for (let round = 0; round < ROUNDS; round += 1) {
    const sent = sendAll();
    await new Promise((resolve) => setTimeout(resolve, 3 + 10 * round));
    await fixture.daemon.kill9();
    await sent;
    fixture.daemon = await startBinary({ home: fixture.home });
  }
  await sendAll();
  expect([...left]).toEqual([]);
}

test("killed while it asks and while it is answered, it has asked everything once, and each answer is the first", async () => {
  await using fixture = await startGovernedFixture();
  const token = await fixture.daemon.pair();
  const names = Array.from({ length: ROUNDS * AT_ONCE }, (_, at) => `release-${at}`);
  const isYes = (name: string): boolean => Number(name.split("-")[1]) % 2 === 0;

  await killedAround(fixture, names, async (name) => {
    const body = { type: "human_approval_request", run_id: name, step_id: "gate", channels: ["provider_a"] };
    const response = await fixture.daemon.request("/api/channel-events", { method: "POST", body });
    return response.status === 200;
  });
  await killedAround(fixture, names, async (name) => {
    const body = { approved: isYes(name) };
    const response = await fixture.daemon.request(`/api/approvals/${name}/gate`, { method: "POST", body, token });
    // Its answer may have got lost on the way back; a second one does not count.
    return response.status === 200 || response.status === 409;
  });

  const listed = (await (await fixture.daemon.request("/api/approvals?limit=200", { token })).json()) as {
    readonly approvals: readonly Listed[];
  };
  const outcomes = Object.fromEntries(listed.approvals.map(({ run_id: name, status }) => [name, status]));
  expect(listed.approvals).toHaveLength(names.length);
  expect(outcomes).toEqual(Object.fromEntries(names.map((name) => [name, isYes(name) ? "approved" : "rejected"])));
  // Only what was on the wire in the instant of a kill is said twice: the platform has no idempotency key.
  for (const words of [/^Approval needed \(#(\d+)\)/, /^#(\d+) \(/]) {
    const said = fixture.platform.sent.flatMap(({ text }) => words.exec(text ?? "")?.[1] ?? []);
    expect(said.length - new Set(said).size).toBeLessThanOrEqual(2 * ROUNDS);
  }
});
