/** How the routes of streams come to answer what the document says: they don't end, or leave HTTP. */
import type { ErrorCode } from "@svc/contract";
import { SocketReader } from "./event-stream.ts";
import type { Harness, HarnessOptions } from "./harness.ts";
import { type Answer, call, until } from "./http.ts";

interface World extends Harness {
  readonly tokens: Readonly<Record<"operator" | "webhook", string>>;
}

type Provocation = (world: World) => Promise<Answer>;

const FULL: HarnessOptions = { subscriberLimits: { most: 0, mostPerDevice: 0 } };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const upgraded = async (world: World, token = world.tokens.operator): Promise<Answer> => {
  const opened = await SocketReader.open(world, { headers: bearer(token) });
  return opened instanceof SocketReader ? { status: 101, headers: {}, text: "", json: undefined } : opened;
};
const drained = async (world: World): Promise<World> => {
  await world.start();
  world.gateway.drain();
  return world;
};
const streamed = (world: World): Promise<Answer> =>
  call(world, { path: "/api/events", headers: bearer(world.tokens.operator) });

export const STREAM_REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Provocation>>>> = {
  "GET /api/events": {
    DRAINING: async (world) => streamed(await drained(world)),
    BUSY: async (world) => (await world.start(FULL), streamed(world)),
  },
  "GET /ws": {
    UPGRADE_REQUIRED: async (world) => {
      await world.start();
      return call(world, { path: "/ws", headers: bearer(world.tokens.operator) });
    },
    FORBIDDEN_SCOPE: async (world) => {
      await world.start({ webhook: { secret: "s" } });
      return upgraded(world, world.tokens.webhook);
    },
    DRAINING: async (world) => upgraded(await drained(world)),
    BUSY: async (world) => (await world.start(FULL), upgraded(world)),
  },
};

/** In place of a plain request, which would not be answered to its end. */
export const STREAM_SUCCESSES: Readonly<Record<string, Provocation>> = {
  "GET /api/events": async (world) => {
    await world.start();
    const answer = streamed(world);
    await until(() => world.hub.subscribers === 1);
    void world.gateway.close(0);
    return answer;
  },
  "GET /ws": async (world) => (await world.start(), upgraded(world)),
};
