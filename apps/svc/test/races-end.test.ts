// Stopped or killed in the middle of everything: what was answered 200 is on disk, and no keyed command ran twice.
import { randomInt } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { type Answer, homeWith, post, startPaired, UNGUARDED } from "./daemon.ts";

const OPEN = "[gateway]\nwebhook_rate_limit_per_minute = 0\n";
const shell = (command: string): string => `/tool shell ${JSON.stringify({ command })}`;
const FRESH = { Connection: "close" };

type Got = { readonly status: number; readonly body: Answer } | undefined;

/** Undefined when there was no whole answer: the daemon is gone. */
const attempt = (daemon: RunningBinary, token: string, text: string, headers: Readonly<Record<string, string>> = {}) =>
  post(daemon, token, text, { ...FRESH, ...headers }).catch((): Got => undefined);

function keptMessages(home: string): string {
  using db = new DatabaseSync(join(home, "state/svc.db"), { readOnly: true });
  return (db.prepare("SELECT messages FROM turns").all() as { messages: string }[])
    .map((row) => row.messages)
    .join("\n");
}

/** Bytes that are no HTTP, again and again, until nobody listens. */
async function batter(url: URL, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await new Promise<void>((done) => {
      const socket = connect({ host: url.hostname, port: Number(url.port) });
      socket.on("error", () => {});
      socket.on("close", () => done());
      socket.end(Buffer.from(Array.from({ length: 64 }, () => randomInt(256))));
      socket.resume();
    });
  }
}

test("SIGTERM while turns, commands, pairing, control calls and garbage come in: exit 0, and every 200 is on disk", async () => {
  using home = homeWith(`${OPEN}[daemon]\ndrain_secs = 20\n${UNGUARDED}`);
  const { daemon, token } = await startPaired({ home: home.path });
  const ended = { yes: false };
  const isOver = (): boolean => ended.yes;
  const answered: string[] = [];
  const statuses = new Set<number>();
  let sent = 0;
  const talk = async (): Promise<void> => {
    while (!isOver()) {
      const number = (sent += 1);
      const acts = number % 10 === 0;
      const text = acts ? shell(`echo ran-${number}- >> log`) : `say-${number}-`;
      const got = await attempt(daemon, token, text, { "X-Idempotency-Key": `key-${number}` });
      if (got === undefined) return;
      statuses.add(got.status);
      if (got.status === 200) answered.push(acts ? `ran-${number}-` : `say-${number}-`);
    }
  };
  const control = async (): Promise<void> => {
    while (!isOver()) await runBinary(["status", "--json"], { home: home.path });
  };
  const pair = async (): Promise<void> => {
    while (!isOver()) {
      const tried = await daemon
        .request("/pair", { method: "POST", headers: { ...FRESH, "X-Pairing-Code": "000000" } })
        .catch(() => undefined);
      if (tried === undefined) return;
      statuses.add(tried.status);
    }
  };
  const all = [...Array.from({ length: 12 }, talk), control(), pair(), batter(new URL(daemon.url), isOver)];
  await until(() => answered.length >= 100 && existsSync(join(home.path, "workspace/log")));
  expect(await daemon.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  ended.yes = true;
  await Promise.all(all);
  expect([...statuses].filter((status) => ![200, 403, 429, 503].includes(status))).toEqual([]);
  const kept = keptMessages(home.path);
  expect(answered.filter((text) => !kept.includes(text))).toEqual([]);
  expect(daemon.output()).not.toMatch(/unexpected|"level":"error"/);
});

test("SIGKILL at any instant, again and again: a keyed command runs at most once, and once when it was answered", async () => {
  using home = homeWith(OPEN + UNGUARDED);
  const first = await startPaired({ home: home.path });
  const { token } = first;
  let { daemon } = first;
  const keys = Array.from({ length: 60 }, (_, index) => `k${index}`);
  const answered = new Set<string>();
  const heard = new Set<string>();
  const run = async (key: string): Promise<void> => {
    const got = await attempt(daemon, token, shell(`echo ${key} >> log`), { "X-Idempotency-Key": key });
    if (got?.status !== 200) return;
    answered.add(key);
    if (got.body.status !== "duplicate") heard.add(key);
  };
  for (let round = 0; round < 6; round += 1) {
    const open = keys.filter((key) => !answered.has(key)).slice(0, 20);
    const running = open.map(run);
    // The instant is a number of answers, not of milliseconds: it is in the middle however fast the machine is.
    const enough = answered.size + randomInt(Math.max(1, open.length));
    await Promise.race([until(() => answered.size >= enough), Promise.all(running)]);
    await daemon.kill9();
    await Promise.all(running);
    daemon = await startBinary({ home: home.path });
  }
  await using _ = daemon;
  await Promise.all(keys.filter((key) => !answered.has(key)).map(run));
  expect([...answered].toSorted()).toEqual(keys.toSorted());
  const lines = readFileSync(join(home.path, "workspace/log"), "utf8").trim().split("\n");
  expect(lines.toSorted()).toEqual([...new Set(lines)].toSorted());
  // What was interrupted is answered as a duplicate, and may have run or not.
  expect([...heard].filter((key) => !lines.includes(key))).toEqual([]);
});

/** Looks again until it holds; the test's own time limit is the only clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
