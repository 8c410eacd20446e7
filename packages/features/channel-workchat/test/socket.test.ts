// The long connection in trouble: silence, frames that can't be read, refusals, events in parts, and the end of a process. What is not on
// disk is not acknowledged.
import type { Inbound, Kept } from "@svc/contract";
import { SvcError } from "@svc/contract";
import { workchatFrame } from "@svc/testkit/platforms/workchat/frames";
import { expect, test } from "vitest";
import { failure, fixture, NOW_MS, PERSON, withPlatform } from "./fixture.ts";

type Made = Awaited<ReturnType<typeof withPlatform>>;

/** Resolves when the channel is connected; `over` when its loop has ended. */
async function running({ made, workchat }: Made) {
  const stop = new AbortController();
  const over = made.run!(stop.signal);
  over.catch(() => undefined);
  await Promise.race([workchat.socket.opened(1), over]);
  return { over, stop };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
};

const said = (text: string) => ({ id: text, from: PERSON, text, atMs: NOW_MS });

test("pings as often as the platform says, and gives a silent connection up after 300 s", async () => {
  await using made = await withPlatform();
  const { workchat, context } = made;
  workchat.socket.pingSeconds = 100;
  const { over } = await running(made);
  await until(() => workchat.socket.pings === 1);
  workchat.socket.mood = "deaf";
  for (const pings of [2, 3]) {
    await context.clock.advance(100_000);
    await until(() => workchat.socket.pings === pings);
  }
  await context.clock.advance(100_000);
  expect(await failure(over)).toMatchObject({ code: "REMOTE_TIMEOUT" });
});

test("a connection that is answered lives on", async () => {
  await using made = await withPlatform();
  const { workchat, context } = made;
  workchat.socket.pingSeconds = 100;
  const { over, stop } = await running(made);
  for (let pings = 1; pings <= 6; pings += 1) {
    await until(() => workchat.socket.pings === pings);
    workchat.write(said(`word ${pings}`));
    await until(() => workchat.socket.acknowledged.length === pings);
    await context.clock.advance(100_000);
  }
  expect(workchat.socket.connections).toBe(1);
  stop.abort();
  await over;
  await until(() => workchat.socket.connections === 0);
});

test("an event in parts is one message, and a lost part leaves it to the next time", async () => {
  await using made = await withPlatform();
  const { workchat, context } = made;
  const { stop } = await running(made);
  workchat.write(said("a"));
  await until(() => workchat.socket.acknowledged.length === 1);
  const headers = { type: "event", message_id: "half", sum: "2", seq: "0", trace_id: "t" };
  workchat.socket.babble(workchatFrame({ method: 1, headers, payload: Buffer.from('{"schema":') }));
  workchat.socket.send(
    JSON.parse(
      JSON.stringify(workchat.socket.acknowledged[0])
        .replace('{\\"text\\":\\"a\\"}', '{\\"text\\":\\"b\\"}')
        .replace(/om_[0-9a-f]{32}/, "om_b"),
    ) as never,
    7,
  );
  await until(() => workchat.socket.acknowledged.length === 2);
  expect(context.received.map(({ text }) => text)).toEqual(["a", "b"]);
  stop.abort();
});

test("what can't be read is passed over, and the connection lives on", async () => {
  await using made = await withPlatform();
  const { workchat, context } = made;
  const { stop } = await running(made);
  const event = { type: "event", message_id: "m" };
  for (const frame of [
    "text",
    Buffer.from("nonsense"),
    Buffer.alloc(0),
    workchatFrame({ method: 1, headers: { ...event, sum: "1000000", seq: "1" }, payload: Buffer.from("{}") }),
    workchatFrame({ method: 1, headers: { ...event, sum: "2", seq: "-1" }, payload: Buffer.from("{}") }),
    workchatFrame({ method: 1, headers: { ...event, sum: "1", seq: "0" }, payload: Buffer.from("no JSON") }),
    workchatFrame({ method: 0, headers: { type: "pong" }, payload: Buffer.from("no JSON") }),
    workchatFrame({ method: 0, headers: { type: "pong" }, payload: Buffer.from('{"PingInterval":-1}') }),
    workchatFrame({ method: 7, headers: {}, payload: Buffer.alloc(0) }),
  ]) {
    workchat.socket.babble(frame);
  }
  workchat.write(said("still there"));
  await until(() => context.received.length === 1);
  expect(workchat.socket.connections).toBe(1);
  stop.abort();
});

test("nothing is acknowledged before it is on disk, and what comes meanwhile waits behind it", async () => {
  const stored: string[] = [];
  const gate = Promise.withResolvers<void>();
  let offers = 0;
  const receive = async (messages: readonly Inbound[]): Promise<Kept[]> => {
    offers += 1;
    if (offers === 1) throw new SvcError("STORE_FULL");
    await gate.promise;
    stored.push(...messages.map(({ text }) => text));
    return messages.map(() => "kept");
  };
  await using made = await withPlatform({}, { receive });
  const { workchat, context } = made;
  const { stop, over } = await running(made);
  for (const text of ["a", "b", "c"]) workchat.write(said(text));
  await until(() => offers === 1);
  await context.clock.advance(500);
  await until(() => offers === 2);
  expect(workchat.socket.acknowledged).toEqual([]);
  gate.resolve();
  await until(() => workchat.socket.acknowledged.length === 3);
  expect(stored).toEqual(["a", "b", "c"]);
  stop.abort();
  await over;
});

test.each([
  [{ "Handshake-Status": "514", "Handshake-Autherrcode": "1000040350" }, "REMOTE_UNREACHABLE"],
  [{ "Handshake-Status": "514", "Handshake-Autherrcode": "1" }, "FEATURE_FAILED"],
  [{ "Handshake-Status": "403" }, "FEATURE_FAILED"],
  [{}, "REMOTE_UNREACHABLE"],
] as const)("a handshake that is refused with %j ends the loop: %s", async (refuses, code) => {
  await using made = await withPlatform();
  made.workchat.socket.mood = { refuses };
  expect(await failure(made.made.run!(new AbortController().signal))).toMatchObject({ code });
});

test("an app that may have no long connection, or a wrong secret, is final; a platform that is away is not", async () => {
  await using made = await withPlatform();
  const { workchat } = made;
  const run = () => failure(made.made.run!(new AbortController().signal));
  workchat.mood = ({ path }) => (path === "/callback/ws/endpoint" ? { babbles: '{"code":514,"msg":"x"}' } : "takes");
  expect(await run()).toMatchObject({ code: "FEATURE_FAILED" });
  workchat.mood = ({ path }) => (path === "/callback/ws/endpoint" ? { babbles: '{"code":1,"msg":"x"}' } : "takes");
  expect(await run()).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  for (const url of ["", "http://127.0.0.1/", "file:///etc/passwd"]) {
    const json = JSON.stringify({ code: 0, data: { URL: url, ClientConfig: {} } });
    workchat.mood = ({ path }) => (path === "/callback/ws/endpoint" ? { babbles: json } : "takes");
    expect(await run()).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  }
  const json = JSON.stringify({ code: 0, data: { URL: "ws://127.0.0.1:1/", ClientConfig: {} } });
  workchat.mood = ({ path }) => (path === "/callback/ws/endpoint" ? { babbles: json } : "takes");
  expect(await run()).toMatchObject({ code: "ADDRESS_REFUSED" });
  await using other = await withPlatform({ app_secret: "another-secret-of-the-tests" });
  expect(await failure(other.made.run!(new AbortController().signal))).toMatchObject({ code: "FEATURE_FAILED" });
});

test.each([
  ["ws://lark.example/?service_id=1", "REMOTE_UNREACHABLE"],
  ["wss://lark.example/?service_id=1", "ADDRESS_REFUSED"],
])("an API that is asked by TLS leads to no connection without it: %s", async (URL, code) => {
  const answers: Readonly<Record<string, unknown>> = {
    "/open-apis/auth/v3/tenant_access_token/internal": { code: 0, tenant_access_token: "t", expire: 7200 },
    "/open-apis/bot/v3/info": { code: 0, bot: { open_id: PERSON, app_name: "Bot", activate_status: 2 } },
    "/callback/ws/endpoint": { code: 0, data: { URL, ClientConfig: {} } },
  };
  const fetch = async (url: string) => {
    const bytes = Buffer.from(JSON.stringify(answers[new globalThis.URL(url).pathname]));
    return { status: 200, headers: {}, bytes, truncated: false, url };
  };
  const resolve = async (): Promise<readonly string[]> => {
    throw new SvcError("ADDRESS_REFUSED");
  };
  const { made } = fixture({}, { fetch, resolve });
  expect(await failure(made.run!(new AbortController().signal))).toMatchObject({ code });
});
