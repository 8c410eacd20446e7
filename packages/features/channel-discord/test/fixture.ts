/** The channel as the tests set it up: the section, a server with people on it, and the feature in this process. */
import type { Channel, Inbound } from "@svc/contract";
import { settled } from "@svc/testkit/fake-clock";
import { openChannel } from "@svc/testkit/open-channel";
import { type Discord, startDiscord } from "@svc/testkit/platforms/discord/server";
import type { DiscordChannel, DiscordGuild } from "@svc/testkit/platforms/discord/world";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { expect } from "vitest";
import type { Config } from "../src/config.ts";
import { create } from "../src/discord.ts";
import definition from "../src/index.ts";

export const TOKEN = "MTA4MDAwMDAwMDAwMDAwMDAwMQ.GabcdE.bot-token-of-the-helper";
export const PERSON = "200000000000000001";
export const STRANGER = "200000000000000002";
export const NOW_MS = Date.UTC(2026, 0, 1, 12);

/** As TOML gives it. */
export const SECTION = { bot_token: TOKEN, allowed_users: [PERSON] };

export type FullChannel = Channel & Required<Pick<Channel, "typing" | "readMarks" | "media" | "prompts" | "check">>;

export interface Fixture extends AsyncDisposable {
  readonly platform: Discord;
  readonly guild: DiscordGuild;
  /** A channel for text on the server. */
  readonly room: DiscordChannel;
  readonly channel: FullChannel & Required<Pick<Channel, "drafts" | "setup">>;
  readonly context: FakeFeatureContext<Config>;
  /** Runs it until the repository is left. */
  run(): void;
  /** As it; resolves once the bot has said who it is. */
  start(): Promise<void>;
  /** What `run` ended with. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
  /** Resolves with what came in once there are so many. */
  received(count: number): Promise<readonly Inbound[]>;
}

type Given = NonNullable<Parameters<typeof openChannel<Config>>[2]>;

interface Options extends Given {
  readonly heartbeatMs?: number;
  /** One that is there already. */
  readonly platform?: Discord;
}

/** `section`: what is different in it. */
export async function fixture(
  section: Readonly<Record<string, unknown>> = {},
  { heartbeatMs = 41_250, platform: given, ...more }: Options = {},
): Promise<Fixture> {
  const platform = given ?? (await startDiscord({ token: TOKEN, heartbeatMs, nowMs: NOW_MS }));
  if (given === undefined) {
    platform.addUser({ id: PERSON, username: "ada", globalName: "Ada" });
    platform.addUser({ id: STRANGER, username: "eve" });
    platform.addChannel(platform.addGuild());
  }
  const guild = [...platform.world.guilds.values()][0]!;
  const room = [...platform.world.channels.values()].find(({ type }) => type === 0)!;
  const opened = openChannel<Config>(
    { definition, create },
    { ...SECTION, api_url: platform.apiUrl, ...section },
    { nowMs: NOW_MS, ...more },
  );
  const stopping = new AbortController();
  const ended = Promise.withResolvers<unknown>();
  const { context } = opened;
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("stopped"));
    if (isStarted) await ended.promise;
  };
  let isStarted = false;
  const run = (): void => {
    isStarted = true;
    opened.made.run!(stopping.signal).then(() => ended.resolve(undefined), ended.resolve);
  };
  return {
    platform,
    guild,
    room,
    channel: opened.channel as Fixture["channel"],
    context,
    ended: ended.promise,
    run,
    async start() {
      const logins = platform.gateway.logins.length;
      run();
      await soon(() => platform.gateway.logins.length > logins);
    },
    stop,
    async received(count) {
      await soon(() => context.received.length >= count);
      return context.received;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await platform.close();
    },
  };
}

/** Waits for what comes by sockets. */
export async function soon(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { interval: 5 }).toBe(true);
  await settled();
}

export const never = new AbortController().signal;
