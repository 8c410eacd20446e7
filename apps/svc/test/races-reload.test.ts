// A reload or a revocation while two hundred turns are under way: no message is lost, none runs twice, none is a 5xx, and
// from the moment the command returns the new rules hold.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { homeWith, post, startPaired, UNGUARDED } from "./daemon.ts";

const SECRETS = ["the-first-secret-of-all", "the-second-secret-of-all"] as const;
const shell = (command: string): string => `/tool shell ${JSON.stringify({ command })}`;

/** Limits, secret, tools, instructions, the number of turns side by side: something of every kind changes each time. */
const configOf = (round: number): string => `
[gateway]
webhook_rate_limit_per_minute = ${round % 2 === 0 ? 0 : 100_000}
idempotency_ttl_secs = ${300 + round}

[channels_config.webhook]
secret = "${SECRETS[round % 2]}"

[agent]
instructions = "round ${round}"
max_parallel_turns = ${4 + (round % 3) * 8}

[tools]
disabled = [${round % 2 === 0 ? "" : '"http_get"'}]

[secrets]
encrypt = false
${UNGUARDED}`;

async function reload(daemon: RunningBinary, round: number): Promise<void> {
  writeFileSync(join(daemon.home, "config.toml"), configOf(round), { mode: 0o600 });
  const { code, stderr } = await runBinary(["reload", "--json"], { home: daemon.home });
  expect([code, stderr]).toEqual([0, ""]);
}

test("ten reloads during two hundred turns: each command runs once, each message is answered, nothing is a 5xx", async () => {
  using home = homeWith(configOf(0));
  const { daemon, token } = await startPaired({ home: home.path });
  await using _ = daemon;
  const refused = new Set<number>();
  const told: string[] = [];
  /** As a client does that knows both secrets: with the other one when the first is refused, under the same key. */
  const send = async (number: number): Promise<string> => {
    for (let attempt = 0; ; attempt += 1) {
      const headers = {
        "X-Webhook-Secret": SECRETS[attempt % 2]!,
        "X-Idempotency-Key": `key-${number}`,
        Connection: "close",
      };
      const { status, body } = await post(daemon, token, shell(`sleep 0.02; echo ran-${number} >> log`), headers);
      told[number] = JSON.stringify(body);
      if (status === 200) return body.status ?? "answered";
      refused.add(status);
    }
  };
  const sending = Promise.all(Array.from({ length: 200 }, (_, number) => send(number)));
  for (let round = 1; round <= 10; round += 1) await reload(daemon, round);
  expect(new Set(await sending)).toEqual(new Set(["answered"]));
  expect([...refused].filter((status) => status !== 401)).toEqual([]);
  const lines = readFileSync(join(home.path, "workspace/log"), "utf8").trim().split("\n");
  const unwritten = told.filter((_, number) => !lines.includes(`ran-${number}`));
  expect(unwritten).toEqual([]);
  expect(lines.toSorted()).toEqual(Array.from({ length: 200 }, (_, number) => `ran-${number}`).toSorted());
  const with_ = (secret: string) => post(daemon, token, "hello", { "X-Webhook-Secret": secret });
  expect([(await with_(SECRETS[0])).status, (await with_(SECRETS[1])).status]).toEqual([200, 401]);
});

test("reloads at once, of good and bad configs: the daemon ends with the last good one", async () => {
  using home = homeWith(configOf(0));
  const { daemon, token } = await startPaired({ home: home.path });
  await using _ = daemon;
  const file = join(home.path, "config.toml");
  const codes: (number | null)[] = [];
  for (let round = 0; round < 3; round += 1) {
    writeFileSync(file, round % 2 === 0 ? "[gateway\n" : configOf(round));
    const all = await Promise.all(Array.from({ length: 4 }, () => runBinary(["reload"], { home: home.path })));
    codes.push(...all.map(({ code }) => code));
  }
  await reload(daemon, 1);
  expect(new Set(codes)).toEqual(new Set([0, 78]));
  expect((await post(daemon, token, "hello", { "X-Webhook-Secret": SECRETS[1] })).status).toBe(200);
});

test("a device revoked while its turns run: from then on nothing of it is answered 200, and nobody else notices", async () => {
  using home = homeWith(`[gateway]\nwebhook_rate_limit_per_minute = 0\n${UNGUARDED}`);
  const { daemon, token } = await startPaired({ home: home.path });
  await using _ = daemon;
  const issued = await runBinary(["pair", "--name", "lost phone", "--json"], { home: home.path });
  const lost = await daemon.pair((JSON.parse(issued.stdout) as { code: string }).code);
  const state = { isRevoked: false, isOver: false };
  const late: number[] = [];
  const others: number[] = [];
  const fresh = { Connection: "close" };
  const talk = async (): Promise<void> => {
    while (!state.isOver) {
      const wasRevoked = state.isRevoked;
      const { status } = await post(daemon, lost, shell("sleep 0.01; echo x"), fresh);
      if (wasRevoked) late.push(status);
    }
  };
  const listen = async (): Promise<void> => {
    while (!state.isOver) others.push((await post(daemon, token, "hello", fresh)).status);
  };
  const all = [...Array.from({ length: 8 }, talk), ...Array.from({ length: 4 }, listen)];
  const listed = await runBinary(["devices", "list", "--json"], { home: home.path });
  const { devices } = JSON.parse(listed.stdout) as { devices: { id: string; name: string }[] };
  const { id } = devices.find(({ name }) => name === "lost phone")!;
  expect((await runBinary(["devices", "revoke", id, "--yes"], { home: home.path })).code).toBe(0);
  state.isRevoked = true;
  while (late.length < 8) await new Promise((resolve) => setTimeout(resolve, 10));
  state.isOver = true;
  await Promise.all(all);
  expect(new Set(late)).toEqual(new Set([401]));
  expect(new Set(others)).toEqual(new Set([200]));
});
