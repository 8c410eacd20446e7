/** The daemon with a homeserver and two workplace platforms, people who write there, and what they see. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { BOT, type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import type { PlatformMood } from "@svc/testkit/platforms/mood";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { workchatDelivery } from "@svc/testkit/platforms/workchat/delivery";
import { WORKCHAT_APP, workchatId, workchatMessageEvent } from "@svc/testkit/platforms/workchat/events";
import { startWorkchat, type Workchat } from "@svc/testkit/platforms/workchat/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { freePort } from "../fixture/free-port.ts";
import { eventually, sleep } from "../fixture/sleep.ts";
import { startPerson } from "./rooms-person.ts";
import type { Facts } from "./scenario.ts";

const OTHER_APP = "cli_00112233445566ff";
const SECRETS = { lark: "app-secret-of-the-first-app", feishu: "app-secret-of-the-second-app" };
const KEY = "encrypt-key-of-the-harness";
const CALLER = workchatId("ou", "caller");

const FAILURES: readonly PlatformMood[] = [
  { refuses: 503 },
  { rateLimits: 1 },
  "resets",
  "loses answers",
  "loses answers",
];
/** So that keys come often. */
const MESSAGES_OF_A_KEY = 3;
/** Share of the keys that come after what they open. */
const LATE_KEYS = 0.5;
const LATEST_KEY_MS = 3_000;

export const PLACES = ["room", "encrypted room", "long connection", "callback"] as const;
type Place = (typeof PLACES)[number];

export interface Written {
  readonly label: string;
  readonly place: Place;
}

export const answerTo = (label: string): string => `Answer to ${label}`;

export interface Shown {
  readonly place: Place;
  readonly text: string;
}

/** Share of the daemon's requests that fail, and whether all of them do. */
interface Moods {
  failing: number;
  isDown: boolean;
}

export interface RoomsWorld extends AsyncDisposable {
  readonly home: string;
  readonly moods: Moods;
  daemon(): RunningBinary;
  begin(): Promise<void>;
  /** Every channel listens: what was said before is not said to it. */
  ready(): Promise<void>;
  write(messages: readonly Written[]): Promise<void>;
  /** The platform of the long connection does not know that the last events were acknowledged. */
  handOverAgain(): void;
  /** What people see. */
  shown(): readonly Shown[];
  /** The events of the encrypted room, as the homeserver has them, and when which keys were sent to the bot. */
  timeline(): readonly unknown[];
  /** Of all lives of the daemon. */
  output(): string;
  faults(): readonly string[];
  facts(): Facts;
}

export async function openRoomsWorld(seed: number, binary: string): Promise<RoomsWorld> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const model = stack.use(
    await fakeModelServer({
      script: ({ body }) => {
        const last = JSON.stringify((body["messages"] as unknown[]).at(-1));
        return { text: answerTo(/message \d+\./.exec(last)?.[0] ?? "something else") };
      },
    }),
  );
  const matrix = stack.use(await startMatrix());
  const encrypted = matrix.world.addRoom([PERSON, BOT]);
  const content = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: MESSAGES_OF_A_KEY };
  matrix.world.append({ roomId: encrypted, sender: PERSON, type: "m.room.encryption", content, stateKey: "" });
  const lark = stack.use(await startWorkchat({ appSecret: SECRETS.lark, people: [CALLER] }));
  const feishu = stack.use(await startWorkchat({ appId: OTHER_APP, appSecret: SECRETS.feishu, people: [CALLER] }));
  const port = await freePort();
  writeFileSync(join(home.path, "config.toml"), configOf({ model: model.url, matrix, lark, feishu }), {
    mode: 0o600,
  });

  const moods: Moods = { failing: 0, isDown: false };
  const counts = { failed: 0, lost: 0, requests: 0, repeated: 0, lateKeys: 0 };
  const random = seededRandom(seed + 1);
  // Of its own: how many requests come before a key is chance.
  const ofKeys = seededRandom(seed + 2);
  const moodOf = (isOurs: (request: PlatformRequest) => boolean) => (request: PlatformRequest) => {
    if (!isOurs(request)) return "takes";
    counts.requests += 1;
    const chance = random();
    const mood: PlatformMood = moods.isDown
      ? { refuses: 503 }
      : chance < moods.failing
        ? FAILURES[Math.floor((chance / moods.failing) * FAILURES.length)]!
        : "takes";
    if (mood === "loses answers") counts.lost += 1;
    else if (mood !== "takes") counts.failed += 1;
    return mood;
  };
  const isBots = ({ headers }: PlatformRequest): boolean => headers["authorization"] === `Bearer ${matrix.token}`;
  matrix.mood = moodOf(isBots);
  const sentToBot: object[] = [];
  const send = matrix.world.sendToDevice.bind(matrix.world);
  matrix.world.sendToDevice = (device, event) => {
    const isLate = device.userId === BOT && event["type"] === "m.room.encrypted" && ofKeys() < LATE_KEYS;
    if (device.userId === BOT)
      sentToBot.push({ type: event["type"], sender: event["sender"], atMs: Date.now(), isLate });
    if (!isLate) return send(device, event);
    counts.lateKeys += 1;
    void sleep(ofKeys() * LATEST_KEY_MS).then(() => send(device, event));
  };
  for (const platform of [lark, feishu]) platform.mood = moodOf(() => true);

  const ada = stack.use(await startPerson(matrix, encrypted));
  const deliverer = stack.use(
    startDeliverer({ url: () => `http://127.0.0.1:${port}/workchat-cn`, attempts: 1_000, pause: () => sleep(100) }),
  );
  let running: RunningBinary | undefined;
  let lives = 0;
  let past = "";
  stack.defer(async () => running?.close());
  const stored = stack.move();

  const writeOne = async ({ label, place }: Written): Promise<void> => {
    const message = { id: label, from: CALLER, text: label, atMs: Date.now() };
    if (place === "room") matrix.write({ from: PERSON, text: label });
    else if (place === "encrypted room") await ada.say(label);
    else if (place === "long connection") lark.write(message);
    else {
      const event = workchatMessageEvent({ ...message, appId: OTHER_APP });
      const { acknowledged } = await deliverer.deliver(() => workchatDelivery(event, KEY, Date.now()));
      if (!acknowledged) throw new Error("a callback is not taken");
    }
  };
  return {
    home: home.path,
    moods,
    daemon: () => running!,
    async begin() {
      lives += 1;
      past += running?.output() ?? "";
      running = await startBinary({ home: home.path, binary, env: { SVC__GATEWAY__PORT: String(port) } });
    },
    async ready() {
      const isKnown = (): boolean => running!.output().match(/the platform knows this channel/g)?.length === 3;
      const isSynced = (): boolean =>
        matrix.requests.some(
          (request) =>
            isBots(request) && request.path.endsWith("/sync") && request.query.get("since")?.startsWith("s") === true,
        );
      if (!(await eventually(() => isKnown() && isSynced() && lark.socket.connections > 0))) {
        throw new Error(`a channel does not get ready:\n${running!.output()}`);
      }
      // She learns of the bot's device by a sync. What she encrypts before it, the bot gets no key of.
      if (!(await eventually(() => ada.knowsBot())))
        throw new Error("the bot's device is not known to the other device");
    },
    // In each place in its order, in all of them at once.
    async write(messages) {
      const queues = Map.groupBy(messages, ({ place }) => place);
      await Promise.all(
        [...queues.values()].map(async (queue) => {
          for (const one of queue) await writeOne(one);
        }),
      );
    },
    handOverAgain() {
      for (const payload of lark.socket.acknowledged.slice(-3)) {
        counts.repeated += 1;
        lark.socket.send(payload);
      }
    },
    shown: () => [
      ...matrix.sent.map(({ text }) => ({ place: "room" as const, text })),
      ...ada.read().map((text) => ({ place: "encrypted room" as const, text })),
      ...lark.sent.map(({ text }) => ({ place: "long connection" as const, text })),
      ...feishu.sent.map(({ text }) => ({ place: "callback" as const, text })),
    ],
    timeline: () => [...matrix.world.rooms.get(encrypted)!.events, ...sentToBot],
    output: () => past + (running?.output() ?? ""),
    faults: () => [
      ...lark.socket.faults,
      ...ada.unreadable().map((id) => `${id} can't be decrypted by the other device`),
      ...(matrix.world.accounts.get(BOT)!.devices.size === 1 ? [] : ["the account has another device"]),
    ],
    facts: () => ({
      lives,
      "requests to the platforms": counts.requests,
      "failed by them": counts.failed,
      "done by them, and the answer lost": counts.lost,
      "events handed over again": counts.repeated,
      "keys that came late": counts.lateKeys,
    }),
    [Symbol.asyncDispose]: () => stored.disposeAsync(),
  };
}

interface Setting {
  readonly model: string;
  readonly matrix: MatrixPlatform;
  readonly lark: Workchat;
  readonly feishu: Workchat;
}

const configOf = ({ model, matrix, lark, feishu }: Setting): string => `
[model]
provider = "openai-compatible"
name = "obedient"
base_url = "${model}"

[channels_config.federated]
homeserver = "${matrix.url}"
access_token = "${matrix.token}"
user_id = "${BOT}"
allowed_users = ["${PERSON}"]
draft_update_interval_ms = 200

[channels_config.workchat]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "${SECRETS.lark}"
allowed_users = ["${CALLER}"]
api_url = "${lark.url}"

[channels_config.workchat_cn]
app_id = "${OTHER_APP}"
app_secret = "${SECRETS.feishu}"
receive_mode = "webhook"
encrypt_key = "${KEY}"
allowed_users = ["${CALLER}"]
api_url = "${feishu.url}"
`;
