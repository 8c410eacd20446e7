// A procedure that is started twice for one request or message, or not at all, because the process was killed around it.
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import type { ChannelFixture } from "./channel-fixture.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const ROUNDS = 4;
const AT_ONCE = 15;

interface Page {
  readonly runs: readonly { readonly id: string; readonly topic: string }[];
  readonly before: number | null;
}

/** Payloads of the runs that a path has started. */
async function startedBy(fixture: ChannelFixture, token: string, topic: string): Promise<Record<string, unknown>[]> {
  const get = async (path: string) => (await fixture.daemon.request(path, { token })).json() as never;
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const { runs, before }: Page = await get(`/api/sop-runs?limit=200${cursor}`);
    ids.push(...runs.filter((run) => run.topic === topic).map(({ id }) => id));
    if (before === null) break;
    cursor = `&before=${before}`;
  }
  const details: { payload: string }[] = await Promise.all(ids.map((id) => get(`/api/sop-runs/${id}`)));
  return details.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
}

const MORE = "[sop]\nmax_concurrent_total = 1000\n[gateway]\nwebhook_rate_limit_per_minute = 0\n";

async function fixture(path: string): Promise<{ readonly fixture: ChannelFixture; readonly token: string }> {
  const made = await startGovernedFixture(MORE);
  writeProcedure(made.home, "take", {
    toml: `[sop]\ndescription = "Takes what comes."\nmax_concurrent = 1000\n\n[[triggers]]\ntype = "webhook"\npath = "${path}"\n`,
  });
  const token = await made.daemon.pair();
  await made.daemon.stop();
  made.daemon = await startBinary({ home: made.home });
  return { fixture: made, token };
}

/** Sends all of `unanswered` again and again, while the process is killed at some instant of each round. */
async function killedAround(made: ChannelFixture, send: (name: string) => Promise<boolean>): Promise<string[]> {
  const names: string[] = [];
  const unanswered = new Set<string>();
  const sendAll = (): Promise<unknown> =>
    Promise.all(
      [...unanswered].map(async (name) => {
        if (await send(name).catch(() => false)) unanswered.delete(name);
      }),
    );
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let count = 0; count < AT_ONCE; count += 1) {
      names.push(`${round}-${count}`);
      unanswered.add(names.at(-1)!);
    }
    const sent = sendAll();
    await new Promise((resolve) => setTimeout(resolve, 5 + 15 * round));
    await made.daemon.kill9();
    await sent;
    made.daemon = await startBinary({ home: made.home });
  }
  await sendAll();
  expect([...unanswered]).toEqual([]);
  // What was answered before the last kill comes once more.
  for (const name of names) unanswered.add(name);
  await sendAll();
  return names;
}

test("each request to a procedure's path starts it once, however often it has to be sent", async () => {
  const { fixture: made, token } = await fixture("/sop/take");
  await using _ = made;
  const send = async (name: string): Promise<boolean> => {
    const headers = { "x-idempotency-key": name };
    const { status } = await made.daemon.request("/sop/take", { method: "POST", token, headers, body: { name } });
    return status === 202 || status === 200;
  };
  const names = await killedAround(made, send);
  const started = (await startedBy(made, token, "/sop/take")).map(({ name }) => name);
  expect(started.toSorted()).toEqual(names.toSorted());
});

test("each message of a channel starts it once, however often its platform has to bring it", async () => {
  const { fixture: made, token } = await fixture("/provider-a");
  await using _ = made;
  const send = async (name: string): Promise<boolean> => {
    const statuses = await made.write({ id: `wamid.${name}`, text: name });
    return statuses.includes(200);
  };
  const names = await killedAround(made, send);
  const started = (await startedBy(made, token, "/provider-a")).map(({ text }) => text as string);
  expect(started.toSorted()).toEqual(names.toSorted());
});
