/**
 * People write in a Matrix room, an encrypted one, and chats of Lark and Feishu, while the daemon is killed again and again, answers of
 * the platforms get lost, and all platforms are out of order for a while. All of them take an idempotency key: nothing arrives twice.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkDatabase } from "@svc/store";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
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
import { createClient, EventType, type MatrixClient } from "matrix-js-sdk";
import { freePort } from "../house/free-port.ts";
import { eventually, sleep } from "../house/sleep.ts";
import { databaseOf } from "../judge/database.ts";
import { type Facts, notRun, type Report, type ScenarioOptions } from "./scenario.ts";

const OTHER_APP = "cli_00112233445566ff";
const SECRETS = { lark: "app-secret-of-the-first-app", feishu: "app-secret-of-the-second-app" };
const KEY = "encrypt-key-of-the-harness";
const CALLER = workchatId("ou", "caller");

const LONGEST_LIFE_MS = 1_200;
const OUTAGE_MS = 2_500;
/** Share of the daemon's requests that meet a failure. */
const FAILING = 0.05;
const FAILURES: readonly PlatformMood[] = [
  { refuses: 503 },
  { rateLimits: 1 },
  "resets",
  "loses answers",
  "loses answers",
];
/** Messages that are written while one life lasts, at least. */
const PER_LIFE = 4;
const LONGEST_ANSWER_MS = 180_000;

const PLACES = ["room", "encrypted room", "long connection", "callback"] as const;
type Place = (typeof PLACES)[number];

interface Written {
  readonly label: string;
  readonly place: Place;
}

export async function rooms({ seed, messages = 200, kills, binary, say = () => {} }: ScenarioOptions): Promise<Report> {
  const program = binary ?? fullestOrNone();
  if (program === undefined) {
    return notRun("rooms", seed, { name: "the full build", reason: "dist/all/svc is missing; pnpm build all" });
  }
  await using world = await openWorld(seed, program);
  const { moods } = world;
  const random = seededRandom(seed);
  const written = Array.from({ length: messages }, (_, at): Written => ({
    label: `message ${at}.`,
    place: PLACES[Math.floor(random() * PLACES.length)]!,
  }));
  await world.begin();
  await world.ready();
  moods.failing = FAILING;

  const perLife = Math.max(PER_LIFE, Math.ceil(messages / (kills + 1)));
  const outages = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)]);
  let next = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const writing = world.write(written.slice(next, next + perLife));
    next += perLife;
    if (outages.has(kill)) {
      moods.isDown = true;
      await sleep(OUTAGE_MS);
      moods.isDown = false;
    }
    const lifeMs = Math.round(random() * LONGEST_LIFE_MS);
    await sleep(lifeMs);
    await world.daemon().kill9();
    say(`kill ${kill} of ${kills}: after ${lifeMs} ms`);
    await world.begin();
    await writing;
    world.handOverAgain();
  }
  await world.write(written.slice(next));
  const isAnswered = (): boolean => {
    const texts = new Set(world.shown().map(({ text }) => text));
    return written.every(({ label }) => texts.has(answerTo(label)));
  };
  const problems = (await eventually(isAnswered, LONGEST_ANSWER_MS)) ? [] : ["not everything is answered"];
  moods.failing = 0;
  await world.daemon().stop();
  const { problems: damage } = await checkDatabase(databaseOf(world.home), {
    quick: false,
    clock: { monotonic: () => performance.now() },
  });
  const judged = judge(written, world.shown());
  const facts: Facts = { kills, outages: outages.size, ...judged.facts, ...world.facts() };
  return {
    scenario: "rooms",
    seed,
    problems: [...problems, ...judged.problems, ...world.faults(), ...damage.map((one) => `database: ${one}`)],
    facts,
  };
}

const answerTo = (label: string): string => `Answer to ${label}`;

interface Shown {
  readonly place: Place;
  readonly text: string;
}

function judge(written: readonly Written[], shown: readonly Shown[]): Pick<Report, "problems" | "facts"> {
  const problems: string[] = [];
  const counts = Map.groupBy(shown, ({ place, text }) => `${place}: ${text}`);
  for (const { label, place } of written) {
    const wanted = `${place}: ${answerTo(label)}`;
    const times = counts.get(wanted)?.length ?? 0;
    if (times !== 1) problems.push(`${wanted} is there ${times} times`);
    counts.delete(wanted);
  }
  for (const other of counts.keys()) problems.push(`${other} was asked for by no message`);
  const byPlace = Object.fromEntries(
    PLACES.map((place) => [`answers, ${place}`, shown.filter((one) => one.place === place).length]),
  );
  return { problems, facts: { "messages written": written.length, "answers shown": shown.length, ...byPlace } };
}

function fullestOrNone(): string | undefined {
  try {
    const path = fullestBinaryPath();
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Share of the daemon's requests that fail, and whether all of them do. */
interface Moods {
  failing: number;
  isDown: boolean;
}

interface RoomsWorld extends AsyncDisposable {
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
  faults(): readonly string[];
  facts(): Facts;
}

async function openWorld(seed: number, binary: string): Promise<RoomsWorld> {
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
  const encrypted = matrix.world.addRoom([PERSON, BOT], { encrypted: true });
  const lark = stack.use(await startWorkchat({ appSecret: SECRETS.lark, people: [CALLER] }));
  const feishu = stack.use(await startWorkchat({ appId: OTHER_APP, appSecret: SECRETS.feishu, people: [CALLER] }));
  const port = await freePort();
  writeFileSync(join(home.path, "config.toml"), configOf({ model: model.url, matrix, lark, feishu }), {
    mode: 0o600,
  });

  const moods: Moods = { failing: 0, isDown: false };
  const counts = { failed: 0, lost: 0, requests: 0, repeated: 0 };
  const random = seededRandom(seed + 1);
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
  matrix.mood = moodOf(({ headers }) => headers["authorization"] === `Bearer ${matrix.token}`);
  for (const platform of [lark, feishu]) platform.mood = moodOf(() => true);

  const ada = stack.use(await startPerson(matrix, encrypted));
  const deliverer = stack.use(
    startDeliverer({ url: () => `http://127.0.0.1:${port}/workchat-cn`, attempts: 1_000, pause: () => sleep(100) }),
  );
  let running: RunningBinary | undefined;
  let lives = 0;
  stack.defer(async () => running?.close());
  const kept = stack.move();

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
      running = await startBinary({ home: home.path, binary, env: { SVC__GATEWAY__PORT: String(port) } });
    },
    async ready() {
      const isKnown = (): boolean => running!.output().match(/the platform knows this channel/g)?.length === 3;
      const isSynced = (): boolean =>
        matrix.requests.some(
          ({ path, query }) => path.endsWith("/sync") && query.get("since")?.startsWith("s") === true,
        );
      if (!(await eventually(() => isKnown() && isSynced() && lark.socket.connections > 0))) {
        throw new Error(`a channel does not get ready:\n${running!.output()}`);
      }
    },
    // In each place in its order, in all of them at once.
    async write(messages) {
      const lanes = Map.groupBy(messages, ({ place }) => place);
      await Promise.all(
        [...lanes.values()].map(async (lane) => {
          for (const one of lane) await writeOne(one);
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
    }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
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

interface Person extends AsyncDisposable {
  say(text: string): Promise<void>;
  /** The bot's messages as they were last edited. */
  read(): readonly string[];
  /** Ids of the bot's messages that this device has no key of. */
  unreadable(): readonly string[];
}

/** With an app on matrix-js-sdk. */
async function startPerson({ url, world }: MatrixPlatform, room: string): Promise<Person> {
  const unmute = mutedDebugging();
  const { userId, deviceId, token } = world.addDevice(PERSON, "ADAPHONE");
  const client: MatrixClient = createClient({ baseUrl: url, userId, deviceId, accessToken: token });
  await client.initRustCrypto({ useIndexedDB: false });
  await client.startClient({ initialSyncLimit: 10 });
  if (!(await eventually(() => client.isInitialSyncComplete()))) throw new Error("matrix-js-sdk does not sync");
  const heard = () =>
    (client.getRoom(room)?.getLiveTimeline().getEvents() ?? []).filter((event) => event.getSender() === BOT);
  return {
    say: async (text) => void (await client.sendTextMessage(room, text)),
    read() {
      const texts = new Map<string, string>();
      for (const event of heard()) {
        if (event.getType() !== (EventType.RoomMessage as string)) continue;
        const content = event.getOriginalContent() as Record<string, Record<string, string>>;
        const { rel_type: kind, event_id: target = "" } = content["m.relates_to"] ?? {};
        if (kind === "m.replace") texts.set(target, content["m.new_content"]?.["body"] ?? "");
        else texts.set(event.getId()!, String(content["body"]));
      }
      return [...texts.values()];
    },
    unreadable: () => heard().flatMap((event) => (event.isDecryptionFailure() ? event.getId()! : [])),
    async [Symbol.asyncDispose]() {
      client.stopClient();
      unmute();
    },
  };
}

/** The library writes every request of its own to the console. */
function mutedDebugging(): () => void {
  const { debug, info, log, warn, trace } = console;
  const quiet = (): void => undefined;
  Object.assign(console, { debug: quiet, info: quiet, log: quiet, warn: quiet, trace: quiet });
  return () => void Object.assign(console, { debug, info, log, warn, trace });
}
