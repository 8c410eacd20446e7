// A connection that is lost, dead or refused: it is taken up again, or `run` says why not; never a message is lost or read twice.
import type { SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { fixture, type Fixture, never, PERSON, soon, TOKEN } from "./fixture.ts";

const texts = ({ context }: Fixture): string[] => context.received.map(({ text }) => text);
const kinds = ({ platform }: Fixture): string[] => platform.gateway.logins.map(({ kind }) => kind);

/** Someone writes to the bot. */
const write = ({ platform }: Fixture, text: string) => platform.write({ from: PERSON, text });

async function started(at: Fixture): Promise<void> {
  await at.start();
  write(at, "first");
  await at.received(1);
}

test("it says who it is, and asks for nothing that it does not need", async () => {
  await using at = await fixture();
  await started(at);
  expect(at.platform.gateway.logins).toMatchObject([
    {
      kind: "identify",
      path: "/",
      body: {
        token: TOKEN,
        shard: [0, 1],
        compress: false,
        // Servers, messages and reactions there, direct messages and reactions there, content.
        intents: 1 + 512 + 1024 + 4096 + 8192 + 32_768,
      },
    },
  ]);
});

test("a connection that is cut is resumed where the platform says, and what was missed is told", async () => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.disconnect();
  write(at, "meanwhile");
  await at.received(2);
  expect(texts(at)).toEqual(["first", "meanwhile"]);
  expect(at.platform.gateway.logins.at(-1)).toMatchObject({ kind: "resume", path: "/resume" });
});

test.each([4000, 4001, 4002, 4008, 4009, 1001, 1006])("close code %i leads to a new connection", async (code) => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.disconnect(code === 1006 ? undefined : code);
  write(at, "after");
  await soon(() => {
    // A new session waits for its turn by the channel's clock.
    void at.context.clock.advance(100);
    return texts(at).includes("after");
  });
  expect(texts(at)).toEqual(["first", "after"]);
});

test("told to reconnect (op 7) it resumes", async () => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.send({ op: 7, d: null });
  await soon(() => kinds(at).includes("resume"));
  write(at, "after");
  await at.received(2);
  expect([kinds(at), texts(at)]).toEqual([
    ["identify", "resume"],
    ["first", "after"],
  ]);
});

test("where the session is gone (op 9) it begins anew, and reads what was written meanwhile", async () => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.forgetSessions();
  at.platform.gateway.disconnect();
  write(at, "meanwhile");
  const mention = { from: PERSON, channelId: at.room.id, text: `<@${at.platform.world.bot.id}> on the server` };
  at.platform.write(mention);
  await soon(() => {
    void at.context.clock.advance(100);
    return texts(at).length === 3;
  });
  write(at, "live");
  await at.received(4);
  expect(texts(at)).toEqual(["first", "meanwhile", "on the server", "live"]);
  expect(kinds(at)).toEqual(["identify", "resume", "identify"]);
});

test("a new session waits until five seconds after the last one, as more would be invalid", async () => {
  await using at = await fixture();
  await started(at);
  const { context, platform } = at;
  platform.gateway.forgetSessions();
  platform.gateway.disconnect();
  const connections = () => platform.requests.filter(({ path }) => path === "/").length;
  await soon(() => connections() === 2 && context.clock.waiting > 1);
  await at.channel.check(never);
  expect(kinds(at)).toEqual(["identify", "resume"]);
  await context.clock.advance(5_500);
  await soon(() => kinds(at).length === 3);
  expect(kinds(at)).toEqual(["identify", "resume", "identify"]);
});

test("a gateway that can't be reached any more is given up after three tries", async () => {
  await using at = await fixture();
  await started(at);
  const before = at.platform.requests.length;
  at.platform.mood = { refuses: 503 };
  at.platform.gateway.disconnect();
  expect(await at.ended).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  expect(at.platform.requests.slice(before).map(({ path }) => path)).toEqual(["/resume", "/resume", "/resume"]);
});

test("an invalid session that may be resumed is resumed", async () => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.send({ op: 9, d: true });
  await soon(() => kinds(at).includes("resume") || at.platform.gateway.closes.length > 0);
  write(at, "after");
  await soon(() => {
    void at.context.clock.advance(100);
    return texts(at).includes("after");
  });
  expect(texts(at)).toEqual(["first", "after"]);
});

test("heartbeats are sent, with what was told last; asked for one, it is sent at once", async () => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.send({ op: 1, d: null });
  await soon(() => at.platform.gateway.beats === 1);
  expect(at.platform.gateway.closes).toEqual([]);
});

test("a connection on which heartbeats are not answered is dead: it is given up, and resumed", async () => {
  await using at = await fixture({}, { heartbeatMs: 60 });
  await started(at);
  at.platform.gateway.rules.acknowledges = false;
  await soon(() => kinds(at).includes("resume"));
  at.platform.gateway.rules.acknowledges = true;
  // Not 1000 or 1001, which would end the session.
  expect(at.platform.gateway.closes).toEqual([4200]);
  write(at, "after");
  await at.received(2);
  expect(texts(at)).toEqual(["first", "after"]);
});

test("a platform that says nothing any more ends run, to be started again", async () => {
  await using at = await fixture();
  await started(at);
  await at.context.clock.advance(149_000);
  expect(at.platform.gateway.connections).toBe(1);
  await at.context.clock.advance(2_000);
  expect(await at.ended).toMatchObject({ code: "REMOTE_UNREACHABLE" });
});

test("a platform that never says hello ends run", async () => {
  await using at = await fixture();
  at.platform.gateway.rules.greets = false;
  at.run();
  await soon(() => at.platform.gateway.connections === 1);
  await at.context.clock.advance(61_000);
  expect(await at.ended).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await soon(() => at.platform.gateway.connections === 0);
});

test("a handshake that hangs does not keep run from ending, nor ends the process later", async () => {
  await using at = await fixture();
  at.platform.mood = (request: { readonly path: string }) => (request.path === "/" ? "hangs" : "takes");
  at.run();
  await soon(() => at.platform.requests.some(({ path }) => path === "/"));
  await at.stop();
  expect(await at.ended).toBeUndefined();
});

test.each([
  [4004, /bot_token/, /Reset Token/],
  [4010, /connections/, /^$/],
  [4011, /more servers than one connection/, /2500/],
  [4012, /version/, /newer version/],
  [4013, /asks for/, /newer version/],
  [4014, /Message Content Intent is off/, /Privileged Gateway Intents/],
])("close code %i is final", async (code, message, hint) => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.disconnect(code);
  const error = (await at.ended) as SvcError;
  expect(error.code).toBe("FEATURE_FAILED");
  expect(error.message).toMatch(message);
  expect(error.hint ?? "").toMatch(hint);
});

test("a token that only the gateway refuses, an intent that is off, too many servers: FEATURE_FAILED from the beginning", async () => {
  for (const [rule, message] of [
    [{ mayReadContent: false }, /Message Content Intent/],
    [{ needsSharding: true }, /more servers/],
    [{ token: "another" }, /bot_token/],
  ] as const) {
    await using at = await fixture();
    Object.assign(at.platform.gateway.rules, rule);
    await at.start();
    expect(await at.ended).toMatchObject({
      code: "FEATURE_FAILED",
      message: expect.stringMatching(message) as unknown,
    });
  }
});

test("no more sessions today: it waits for tomorrow, and begins none", async () => {
  await using at = await fixture();
  at.platform.sessionsLeft = 0;
  at.run();
  expect(await at.ended).toMatchObject({ code: "REMOTE_UNREACHABLE", retryAfterMs: 3_600_000 });
  expect(at.platform.gateway.logins).toEqual([]);
});

test("an address that may not be connected to is not", async () => {
  const resolved: string[] = [];
  const refuse = (url: string) => {
    resolved.push(url);
    return Promise.reject(Object.assign(new Error("private"), { code: "ADDRESS_REFUSED" }));
  };
  await using at = await fixture({}, { resolve: refuse });
  at.run();
  expect(await at.ended).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  expect(resolved).toEqual([at.platform.url.replace("http", "ws")]);
  // By the time of an answer to this, anyone who connects all the same has done so.
  await at.channel.check(never);
  expect(at.platform.requests.filter(({ path }) => path === "/")).toEqual([]);
});

test.each([
  ['{"op":10}', "REMOTE_UNREACHABLE"],
  ['{"op":9}', "REMOTE_UNREACHABLE"],
  ['{"op":0,"t":"READY","s":1,"d":null}', "REMOTE_UNREACHABLE"],
  ['{"op":0,"t":"READY","s":1,"d":{"session_id":1,"resume_gateway_url":2}}', "REMOTE_UNREACHABLE"],
  ["null", "heard"],
  ["[]", "heard"],
  ["7", "heard"],
  ["{", "heard"],
  ['{"op":0,"t":null,"s":null,"d":null}', "heard"],
  ['{"op":0,"t":"GUILD_CREATE","s":2,"d":"x"}', "heard"],
  ['{"op":0,"t":"INTERACTION_CREATE","s":2,"d":[]}', "heard"],
  ['{"op":11,"d":{}}', "heard"],
])("a frame that is none, %s, is no end of the process", async (frame, expected) => {
  await using at = await fixture();
  await started(at);
  at.platform.gateway.sendRaw(frame);
  write(at, "after");
  let outcome: unknown;
  void at.ended.then((error) => (outcome ??= (error as SvcError | undefined)?.code));
  await soon(() => {
    if (texts(at).includes("after")) outcome ??= "heard";
    return outcome !== undefined;
  });
  expect(outcome).toBe(expected);
});

test("a change of a message is no message, whether it is told before or after it", async () => {
  await using at = await fixture();
  await started(at);
  const { platform } = at;
  const { world } = platform;
  const tell = world.tell;
  const held: Parameters<typeof tell>[0][] = [];
  world.tell = (dispatch) => void held.push(dispatch);
  const message = write(at, "written");
  platform.change(message, "written and changed");
  world.tell = tell;
  for (const dispatch of held.toReversed()) tell(dispatch);
  platform.change(message, "changed again");
  write(at, "next");
  await at.received(3);
  expect(texts(at)).toEqual(["first", "written", "next"]);
});
