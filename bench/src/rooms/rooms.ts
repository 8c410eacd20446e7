/**
 * What channels that keep a connection cost the daemon that has them: its start until /health answers, and its memory once they
 * are connected. In turns with a daemon of the same build that has none.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { BOT, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { WORKCHAT_APP } from "@svc/testkit/platforms/workchat/events";
import { relaynetPerson } from "@svc/testkit/platforms/relaynet/people";
import { startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import { startWorkchat } from "@svc/testkit/platforms/workchat/server";
import { median } from "../measure.ts";
import { anonymousMb } from "../server.ts";
import { startAsked } from "../startup.ts";

export interface RoomsCost {
  /** `none`: no channel is configured. */
  readonly channel: string;
  /** From spawn to the first answer on /health, median. */
  readonly healthMs: number;
  /** Anonymous memory once it was connected, median. */
  readonly memoryMb: number;
}

const BINARY = resolve(import.meta.dirname, "../../../dist/all/svc");
const SECRET = "secret-of-the-bench-0123456789";
/** Until what the connection left behind is thrown away. */
const SETTLE_MS = 8_000;
const LONGEST_CONNECT_MS = 30_000;

interface Case {
  readonly channel: string;
  readonly section: string;
  /** It is connected, and the library that it needs is loaded. */
  isConnected(): boolean;
}

export async function measureRooms(rounds: number): Promise<RoomsCost[]> {
  await using stack = new AsyncDisposableStack();
  const matrix = stack.use(await startMatrix({ encrypted: true }));
  const workchat = stack.use(await startWorkchat({ appSecret: SECRET }));
  const relay = stack.use(await startRelaynet());
  const syncs = (): number => matrix.requests.filter(({ path }) => path.endsWith("/sync")).length;
  let begun = { syncs: 0, connections: 0, requests: 0, frames: 0 };
  const cases: readonly Case[] = [
    { channel: "none", section: "", isConnected: () => true },
    {
      channel: "federated, encrypted",
      section: `[channels_config.federated]
homeserver = "${matrix.url}"
access_token = "${matrix.token}"
user_id = "${BOT}"
allowed_users = ["${PERSON}"]`,
      isConnected: () => syncs() >= begun.syncs + 2,
    },
    {
      channel: "workchat, long connection",
      section: workchatSection(workchat.url),
      isConnected: () => workchat.socket.connections > 0,
    },
    {
      channel: "workchat, callback",
      section: `${workchatSection(workchat.url)}\nreceive_mode = "webhook"\nencrypt_key = "${SECRET}"`,
      isConnected: () => workchat.requests.length > begun.requests,
    },
    {
      channel: "relaynet, one relay",
      section: `[channels_config.relaynet]
private_key = "${relaynetPerson("agent of the bench").nsec}"
relays = ["${relay.relay}"]
allowed_pubkeys = ["*"]`,
      // It subscribes, then asks for what was there before.
      isConnected: () => relay.frames.length >= begun.frames + 2,
    },
  ];
  // The device has one home: another one would be another device to the homeserver.
  const homes = cases.map(() => mkdtempSync(join(tmpdir(), "svc-bench-")));
  stack.defer(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));
  const samples = cases.map(() => ({ healthMs: [] as number[], memoryMb: [] as number[] }));
  // The first start of a home makes keys.
  for (let round = -1; round < rounds; round += 1) {
    for (const [at, { section, channel, isConnected }] of cases.entries()) {
      begun = {
        syncs: syncs(),
        connections: workchat.socket.connections,
        requests: workchat.requests.length,
        frames: relay.frames.length,
      };
      const home = homes[at]!;
      writeFileSync(join(home, "config.toml"), section, { mode: 0o600 });
      const { server, healthMs } = await startAsked(BINARY, { SVC_HOME: home });
      await connected(channel, isConnected);
      await pause(SETTLE_MS);
      const memoryMb = anonymousMb(server.pid);
      await server.stop();
      if (round < 0) continue;
      samples[at]!.healthMs.push(healthMs);
      samples[at]!.memoryMb.push(memoryMb);
    }
  }
  return cases.map(({ channel }, at) => ({
    channel,
    healthMs: median(samples[at]!.healthMs),
    memoryMb: median(samples[at]!.memoryMb),
  }));
}

async function connected(channel: string, isConnected: () => boolean): Promise<void> {
  for (const untilMs = performance.now() + LONGEST_CONNECT_MS; !isConnected();) {
    if (performance.now() > untilMs) throw new Error(`${channel} does not connect`);
    await pause(20);
  }
}

const workchatSection = (url: string): string => `[channels_config.workchat]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "${SECRET}"
allowed_users = ["*"]
api_url = "${url}"`;
