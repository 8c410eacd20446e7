// Whoever follows along with the real daemon, by either way: told everything once, also over a kill, and let go when it stops.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { homeWith, localModel, post } from "./daemon.ts";
import { Follower } from "./follower.ts";

const tell = (daemon: RunningBinary, title: string): Promise<Response> =>
  daemon.request("/api/channel-events", { method: "POST", body: { type: "build", content: { title } } });

test("a stream and a socket are told the same: a turn in pieces, an event of a program, no secret in either", async () => {
  let isToldFirst: Promise<unknown> | undefined;
  const midway = async (): Promise<void> => void (await isToldFirst);
  await using model = await fakeModelServer({ script: () => ({ text: "one two three four five six seven", midway }) });
  using home = homeWith(
    `${localModel(model)}\n[channels_config.webhook]\nsigning_secret = "whsec_c2VjcmV0LW9mLXRoZS1ob3VzZQ=="\n`,
  );
  await using daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
  const [stream, socket] = [await Follower.stream(daemon, token), await Follower.socket(daemon, token)];
  isToldFirst = stream.first("text-delta");
  socket.say({ type: "message", content: "count", session_id: "mine" });
  expect(await socket.first("reply")).toMatchObject({
    response: "one two three four five six seven",
    session_id: "mine",
  });
  const answer = await tell(daemon, "whsec_c2VjcmV0LW9mLXRoZS1ob3VzZQ==");
  const { event_id: id } = (await answer.json()) as { event_id: string };
  const { payload } = await stream.first("channel_event");
  await socket.first("channel_event");
  expect([payload!["title"], stream.told.at(-1)?.id]).toEqual(["••••••", id]);
  expect(socket.told.filter(({ type }) => type !== "reply")).toEqual(stream.told);
  const deltas = stream.told.filter(({ type }) => type === "text-delta").map(({ payload: { text } = {} }) => text);
  expect([deltas.join(""), deltas.length > 1]).toEqual(["one two three four five six seven", true]);
  const { device } = (await stream.first("turn-end")).payload as { device: string };
  expect((await runBinary(["devices", "list", "--json"], { home: home.path })).stdout).toContain(device);
});

test("who comes back after a kill is told that it has missed something, and after a lost connection misses nothing", async () => {
  using home = temporaryHome();
  let daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
  await tell(daemon, "before");
  const first = await Follower.stream(daemon, token);
  await post(daemon, token, "hello");
  const end = await first.first("turn-end");
  await tell(daemon, "meanwhile");
  const second = await Follower.stream(daemon, token, end.id);
  expect((await second.first("channel_event")).payload).toMatchObject({ title: "meanwhile" });
  expect(second.types).toEqual(["channel_event"]);
  await daemon.kill9();
  daemon = await startBinary({ home: home.path });
  await using _ = daemon;
  const third = await Follower.stream(daemon, token, end.id);
  expect((await third.first("events-dropped")).payload).toEqual({ reason: "another-boot", missed: null });
  await tell(daemon, "after");
  await third.first("channel_event");
  expect(third.types).toEqual(["events-dropped", "channel_event"]);
});

test("a daemon that is told to stop says so, lets its followers go, and is not held up by them", async () => {
  await using daemon = await startBinary();
  const token = await daemon.pair();
  const [stream, socket] = [await Follower.stream(daemon, token), await Follower.socket(daemon, token)];
  // One that asks and never reads.
  const mute = await daemon.request("/api/events", { token });
  const exited = daemon.stop();
  expect([await stream.ended, await socket.ended]).toEqual([undefined, 1001]);
  expect([stream.types, socket.types]).toEqual([["service-draining"], ["service-draining"]]);
  expect((await exited).code).toBe(0);
  await mute.body?.cancel();
});

test("a device that is revoked at the terminal is told nothing more", async () => {
  await using daemon = await startBinary();
  const token = await daemon.pair();
  const [stream, socket] = [await Follower.stream(daemon, token), await Follower.socket(daemon, token)];
  const { devices } = JSON.parse((await runBinary(["devices", "list", "--json"], { home: daemon.home })).stdout);
  expect((await runBinary(["devices", "revoke", devices[0].id], { home: daemon.home })).code).toBe(0);
  await tell(daemon, "not for you");
  expect(await socket.ended).toBe(1008);
  expect(await stream.ended).toBeUndefined();
  expect([stream.types, socket.types]).toEqual([[], []]);
});
