/**
 * Two people write to an account in private and in a group, by its linked device, while the daemon is killed and the platform ends the
 * connection again and again. A lost step of a ratchet is a chat that can't be read any more, and a lost confirmation a message that comes
 * twice. In the end the phone logs the device out, and it is linked again.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkDatabase } from "@svc/store";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { codeIn } from "@svc/testkit/platforms/provider-a-web/camera";
import {
  GROUP,
  OWNER,
  PERSON,
  startWebPlatform,
  STRANGER,
  type WebPlatform,
} from "@svc/testkit/platforms/provider-a-web/server";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { eventually, sleep } from "../fixture/sleep.ts";
import { databaseOf } from "../judge/database.ts";
import { keepEvidence } from "./evidence.ts";
import { fullestOrNone } from "./rooms.ts";
import { notRun, type Report, type ScenarioOptions } from "./scenario.ts";

const PEOPLE = [PERSON, STRANGER];
const LONGEST_LIFE_MS = 1_500;
const LONGEST_ANSWER_MS = 300_000;
/** Less than `daemon.drain_secs`, and than the timers of the library. */
const LONGEST_STOP_MS = 20_000;
const IN_GROUP = 0.3;
/** Disconnects for each kill. */
const DISCONNECTS = 0.5;

interface Written {
  readonly label: string;
  readonly from: string;
  readonly inGroup: boolean;
}

const answerTo = (label: string): string => `Answer to ${label}`;

export async function linkedDevice(options: ScenarioOptions): Promise<Report> {
  const { seed, messages = 200, kills, binary = fullestOrNone(), evidence, say = () => {} } = options;
  if (binary === undefined) {
    return notRun("linked-device", seed, { name: "the full build", reason: "dist/all/svc is missing; pnpm build all" });
  }
  const random = seededRandom(seed);
  const written = Array.from({ length: messages }, (_, at): Written => ({
    label: `message ${at}.`,
    from: PEOPLE[Math.floor(random() * PEOPLE.length)]!,
    inGroup: random() < IN_GROUP,
  }));
  await using world = await openWorld(binary);
  const { platform } = world;
  await world.begin();
  await world.link();

  const disconnects = Math.ceil(kills * DISCONNECTS);
  const cutsAfter = new Set(
    Array.from({ length: disconnects }, (_, at) => Math.floor(((at + 0.5) * kills) / disconnects)),
  );
  const perLife = Math.ceil(messages / (kills + 1));
  for (let kill = 0; kill < kills; kill += 1) {
    const writing = world.write(written.slice(kill * perLife, (kill + 1) * perLife));
    if (cutsAfter.has(kill)) {
      await eventually(() => platform.isConnected);
      await sleep(random() * LONGEST_LIFE_MS);
      platform.disconnect();
      say("the platform has ended the connection");
    }
    const lifeMs = Math.round(random() * LONGEST_LIFE_MS);
    await sleep(lifeMs);
    await world.kill();
    say(`kill ${kill + 1} of ${kills}: after ${lifeMs} ms`);
    await world.begin();
    await writing;
  }
  await world.write(written.slice(kills * perLife));
  const problems: string[] = [];
  const isAnswered = async (label: string): Promise<boolean> =>
    await eventually(() => platform.seen.some(({ text }) => text === answerTo(label)), LONGEST_ANSWER_MS);
  for (const { label } of written) {
    if (await isAnswered(label)) continue;
    problems.push(`${label} and maybe more is not answered`);
    break;
  }

  platform.logOut();
  say("the phone has logged the device out");
  if (!(await eventually(async () => (await world.channels()).includes("svc channels link provider_a")))) {
    problems.push("after the log-out the channel does not say how to link it again");
  }
  await world.link();
  say("linked again");
  const last: Written = { label: `message ${messages}.`, from: PERSON, inGroup: false };
  await world.write([last]);
  if (!(await isAnswered(last.label))) problems.push("after it was linked again it does not answer");
  const conversations = await world.conversations();
  const stoppingAtMs = performance.now();
  await world.stop();
  if (performance.now() - stoppingAtMs > LONGEST_STOP_MS)
    problems.push("the daemon does not stop, though nothing runs");

  const { problems: damage } = await checkDatabase(databaseOf(world.home), {
    quick: false,
    clock: { monotonic: () => performance.now() },
  });
  const everything = [...written, last];
  const wrong = [
    ...problems,
    ...judge(everything, platform),
    ...(conversations === placesOf(everything).size ? [] : [`there are ${conversations} conversations`]),
    ...damage.map((one) => `database: ${one}`),
  ];
  if (wrong.length > 0 && evidence !== undefined) {
    keepEvidence({ home: world.home, lives: world }, join(evidence, "linked-device"));
  }
  const facts = {
    kills,
    disconnects,
    "messages written": everything.length,
    "in a group": everything.filter(({ inGroup }) => inGroup).length,
    "answers shown": new Set(platform.seen.filter(({ by }) => by !== OWNER).map(({ id }) => id)).size,
    "answers sent again": platform.repeated,
    logins: platform.logins,
  };
  return { scenario: "linked-device", seed, problems: wrong, facts };
}

const placesOf = (written: readonly Written[]): Set<string> =>
  new Set(written.map(({ from, inGroup }) => (inGroup ? GROUP : from)));

/** Where it was asked, for everybody there, once. */
function judge(written: readonly Written[], { seen, broken, violations, retries }: WebPlatform): string[] {
  const problems = [
    ...broken.map((what) => `a chat is broken: ${what}`),
    ...violations.map((what) => `the platform was sent what it does not take: ${what}`),
    ...(retries > 0 ? [`${retries} messages could not be decrypted`] : []),
  ];
  const answers = Map.groupBy(
    seen.filter(({ by }) => by !== OWNER),
    ({ text }) => text,
  );
  for (const { label, from, inGroup } of written) {
    const found = answers.get(answerTo(label)) ?? [];
    for (const person of PEOPLE) {
      const times = found.filter(({ by }) => by === person).length;
      const wanted = inGroup || person === from ? 1 : 0;
      if (times !== wanted) problems.push(`the answer to ${label} is shown to ${person} ${times} times`);
    }
    if (found.some(({ chat }) => (chat === GROUP) !== inGroup)) problems.push(`${label} is answered elsewhere`);
    answers.delete(answerTo(label));
  }
  for (const other of answers.keys()) problems.push(`${other} was asked for by no message`);
  return problems;
}

async function openWorld(binary: string) {
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
  const platform = stack.use(await startWebPlatform());
  writeFileSync(join(home.path, "config.toml"), configOf(model.url, platform), { mode: 0o600 });
  let running: RunningBinary | undefined;
  let token: string | undefined;
  let output = "";
  stack.defer(async () => running?.close());
  const stored = stack.move();

  const end = async (how: "kill" | "stop"): Promise<void> => {
    await (how === "kill" ? running!.kill9() : running!.stop());
    output += running!.output();
    running = undefined;
  };
  const ask = async (path: string, body?: object): Promise<unknown> => {
    token ??= await running!.pair();
    return await (await running!.request(path, { token, ...(body && { body }) })).json();
  };
  const linkStep = async (step: "begin" | "state") =>
    (await ask("/api/provider-a-web/link", { step })) as { stage: string; qr?: string[] };
  const write = async ({ label, from, inGroup }: Written): Promise<void> => {
    if (!inGroup) return void (await platform.write({ from, text: label }));
    const contextInfo = { mentionedJid: [platform.person(OWNER).lid] };
    await platform.write({ from, group: true, content: { extendedTextMessage: { text: label, contextInfo } } });
  };
  return {
    home: home.path,
    platform,
    async begin() {
      running = await startBinary({ home: home.path, binary });
    },
    kill: () => end("kill"),
    stop: () => end("stop"),
    /** The owner scans the code that is shown. */
    async link() {
      let state = await linkStep("begin");
      if (!(await eventually(async () => (state = await linkStep("state")).stage === "scan"))) {
        throw new Error(`no code is shown: ${JSON.stringify(state)}`);
      }
      platform.scan(codeIn(state.qr!));
      if (!(await eventually(async () => (state = await linkStep("state")).stage === "done"))) {
        throw new Error(`the account is not linked: ${JSON.stringify(state)}`);
      }
      if (!(await eventually(() => platform.isConnected))) throw new Error(`it does not connect:\n${output}`);
    },
    async write(messages: readonly Written[]) {
      for (const one of messages) {
        await write(one);
        // The daemon is another process: it gets its turn.
        await sleep(1);
      }
    },
    channels: async () => JSON.stringify(await ask("/api/channels")),
    conversations: async () => ((await ask("/api/sessions")) as { sessions: unknown[] }).sessions.length,
    output: () => output + (running?.output() ?? ""),
    [Symbol.asyncDispose]: () => stored.disposeAsync(),
  };
}

const configOf = (model: string, platform: WebPlatform): string => `
[model]
provider = "openai-compatible"
name = "obedient"
base_url = "${model}"

[channels_config.provider_a]
session_path = "linked"
allowed_numbers = ${JSON.stringify(PEOPLE)}
api_url = "${platform.url}"
web_root_key = "${platform.rootKey}"
`;
