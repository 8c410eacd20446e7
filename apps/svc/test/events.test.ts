// Whoever follows along with the real daemon, by either way: told everything once, also over a kill, and let go when it stops.
import { fakeModelServer, type RunningBinary, runBinary, startBinary, temporaryHome } from "@svc/testkit";
import { expect, test } from "vitest";
import { homeWith, localModel, post } from "./daemon.ts";

interface Told {
  readonly id?: string;
  readonly type: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

class Follower {
  readonly told: Told[] = [];
  /** How it ended: the code of a WebSocket. */
  readonly ended: Promise<number | undefined>;
  /** What this one sends, if it can. */
  readonly say: (frame: object) => void;
  #waiting: (() => void)[] = [];

  private constructor(ended: (follower: Follower) => Promise<number | undefined>, say: (frame: object) => void) {
    this.say = say;
    this.ended = ended(this);
  }

  static async stream(daemon: RunningBinary, token: string, after?: string): Promise<Follower> {
    const headers = after === undefined ? {} : { "last-event-id": after };
    const response = await daemon.request("/api/events", { token, headers });
    if (response.status !== 200) throw new Error(`refused: ${await response.text()}`);
    const reading = async (follower: Follower): Promise<undefined> => {
      let text = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const blocks = text.split("\n\n");
        text = blocks.pop()!;
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data !== undefined) follower.#hear(JSON.parse(data));
        }
      }
    };
    return new Follower(reading, () => {});
  }

  static async socket(daemon: RunningBinary, token: string): Promise<Follower> {
    const ws = new WebSocket(`${daemon.url.replace("http", "ws")}/ws`, ["svc.v1", `bearer.${token}`]);
    await new Promise((resolve, reject) => {
      ws.addEventListener("open", resolve);
      ws.addEventListener("error", reject);
    });
    const listening = (follower: Follower): Promise<number> =>
      new Promise((resolve) => {
        ws.addEventListener("message", ({ data }) => follower.#hear(JSON.parse(String(data))));
        ws.addEventListener("close", ({ code }) => resolve(code));
      });
    const follower = new Follower(listening, (frame) => ws.send(JSON.stringify(frame)));
    follower.say({ type: "resume" });
    return follower;
  }

  /** Resolves with the first of this type. */
  async first(type: string): Promise<Told> {
    for (;;) {
      const found = this.told.find((one) => one.type === type);
      if (found) return found;
      await new Promise<void>((look) => this.#waiting.push(look));
    }
  }

  get types(): string[] {
    return this.told.map(({ type }) => type).filter((type) => type !== "channel-health");
  }

  #hear(told: Told): void {
    this.told.push(told);
    for (const look of this.#waiting.splice(0)) look();
  }
}

const tell = (daemon: RunningBinary, title: string): Promise<Response> =>
  daemon.request("/api/channel-events", { method: "POST", body: { type: "build", content: { title } } });

test("a stream and a socket are told the same: a turn in pieces, an event of a program, no secret in either", async () => {
  await using model = await fakeModelServer({ script: () => ({ text: "one two three four five six seven" }) });
  using home = homeWith(
    `${localModel(model)}\n[channels_config.webhook]\nsigning_secret = "whsec_c2VjcmV0LW9mLXRoZS1ob3VzZQ=="\n`,
  );
  await using daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
  const [stream, socket] = [await Follower.stream(daemon, token), await Follower.socket(daemon, token)];
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
