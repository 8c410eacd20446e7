/**
 * Four people write private messages of both protocols over three relays, while the daemon is killed again and again. One relay drops: it
 * keeps events to itself, swallows what it is handed and ends connections. One hands over everything twice, and old events again. One lies:
 * it alters what it hands over, and has forged messages in the people's names.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkDatabase } from "@svc/store";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import type { PlatformMood } from "@svc/testkit/platforms/mood";
import {
  type RelaynetEvent,
  relaynetEvent,
  relaynetForgeries,
  type RelaynetPerson,
  relaynetPerson,
  type RelaynetProtocol,
} from "@svc/testkit/platforms/relaynet/people";
import { type Relaynet, startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { freePort } from "../fixture/free-port.ts";
import { eventually, sleep } from "../fixture/sleep.ts";
import { databaseOf } from "../judge/database.ts";
import { keepEvidence } from "./evidence.ts";
import { fullestOrNone } from "./rooms.ts";
import { notRun, type Report, type ScenarioOptions } from "./scenario.ts";

const AGENT = relaynetPerson("agent of the harness");
const PEOPLE = ["ada", "ben", "cleo", "dan"].map(relaynetPerson);
const PROTOCOLS = ["wrapped", "legacy"] as const satisfies readonly RelaynetProtocol[];
const LONGEST_LIFE_MS = 2_000;
const LONGEST_ANSWER_MS = 900_000;
/** Shares of the events that the first relay does not tell, and of the frames that it swallows or answers by ending the connection. */
const UNTOLD = 0.3;
const SWALLOWED = 0.2;
const REPEATED = 0.2;
/** Every fifth message has forged ones beside it. */
const FORGED_EVERY = 5;

interface Written {
  readonly label: string;
  readonly from: RelaynetPerson;
  readonly protocol: RelaynetProtocol;
}

const answerTo = (label: string): string => `Answer to ${label}`;

export async function relays(options: ScenarioOptions): Promise<Report> {
  const { seed, messages = 200, kills, binary = fullestOrNone(), evidence, say = () => {} } = options;
  if (binary === undefined) {
    return notRun("relays", seed, { name: "the full build", reason: "dist/all/svc is missing; pnpm build all" });
  }
  const random = seededRandom(seed);
  const written = Array.from({ length: messages }, (_, at): Written => ({
    label: `message ${at}.`,
    from: PEOPLE[Math.floor(random() * PEOPLE.length)]!,
    protocol: PROTOCOLS[at % 2]!,
  }));
  await using world = await openWorld(seed, binary);
  await world.begin();
  if (!(await eventually(() => world.output().includes("the platform knows this channel")))) {
    throw new Error(`the channel does not get ready:\n${world.output()}`);
  }
  const perLife = Math.ceil(messages / (kills + 1));
  for (let kill = 1; kill <= kills; kill += 1) {
    const writing = world.write(written.slice((kill - 1) * perLife, kill * perLife));
    const lifeMs = Math.round(random() * LONGEST_LIFE_MS);
    await sleep(lifeMs);
    await world.kill();
    say(`kill ${kill} of ${kills}: after ${lifeMs} ms`);
    await world.begin();
    await writing;
  }
  await world.write(written.slice(kills * perLife));
  const isAnswered = (): boolean => {
    const texts = new Set(world.shown().map(({ text }) => text));
    return written.every(({ label }) => texts.has(answerTo(label)));
  };
  const problems = (await eventually(isAnswered, LONGEST_ANSWER_MS)) ? [] : ["not everything is answered"];
  await world.stop();
  const { problems: damage } = await checkDatabase(databaseOf(world.home), {
    quick: false,
    clock: { monotonic: () => performance.now() },
  });
  const wrong = [...problems, ...judge(written, world.shown()), ...damage.map((one) => `database: ${one}`)];
  if (wrong.length > 0 && evidence !== undefined) {
    keepEvidence({ home: world.home, lives: world }, join(evidence, "relays"));
  }
  const facts = { kills, "messages written": messages, "answers shown": world.shown().length, ...world.facts() };
  return { scenario: "relays", seed, problems: wrong, facts };
}

/** By the protocol of the question, to its author, once. */
function judge(written: readonly Written[], shown: ReturnType<World["shown"]>): string[] {
  const problems: string[] = [];
  const answers = Map.groupBy(shown, ({ text }) => text);
  for (const { label, from, protocol } of written) {
    const found = answers.get(answerTo(label)) ?? [];
    if (found.length !== 1) problems.push(`${label} is answered ${found.length} times`);
    if (found.some(({ to }) => to !== from.pubkey)) problems.push(`${label} is answered to another person`);
    if (found.some((one) => one.protocol !== protocol)) problems.push(`${label} is answered by another protocol`);
    answers.delete(answerTo(label));
  }
  for (const other of answers.keys()) problems.push(`${other} was asked for by no message`);
  return problems;
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld(seed: number, binary: string) {
  await using stack = new AsyncDisposableStack();
  const random = seededRandom(seed + 1);
  const counts = { untold: 0, swallowed: 0, cut: 0, repeated: 0, altered: 0, forged: 0 };
  const home = stack.use(temporaryHome());
  const model = stack.use(
    await fakeModelServer({
      script: ({ body }) => {
        const last = JSON.stringify((body["messages"] as unknown[]).at(-1));
        return { text: answerTo(/(?:message|forged) \d+\./.exec(last)?.[0] ?? "something else") };
      },
    }),
  );
  const past: RelaynetEvent[] = [];
  const dropping = stack.use(
    await startRelaynet({
      people: PEOPLE,
      vice(event) {
        if (random() >= UNTOLD) return [event];
        counts.untold += 1;
        return [];
      },
    }),
  );
  dropping.mood = ({ method }): PlatformMood => {
    if (method !== "FRAME" || random() >= SWALLOWED) return "takes";
    counts.swallowed += 1;
    return random() < 0.5 ? "loses answers" : "resets";
  };
  const repeating = stack.use(
    await startRelaynet({
      people: PEOPLE,
      vice(event) {
        past.push(event);
        counts.repeated += 1;
        const old = random() < REPEATED ? [past[Math.floor(random() * past.length)]!] : [];
        return [event, event, ...old];
      },
    }),
  );
  const lying = stack.use(
    await startRelaynet({
      people: PEOPLE,
      vice(event) {
        counts.altered += 1;
        return [{ ...event, content: `${event.content.slice(0, -4)}AAAA` }, event];
      },
    }),
  );
  const all: readonly Relaynet[] = [dropping, repeating, lying];
  const cutting = setInterval(() => {
    if (random() >= 0.2) return;
    counts.cut += dropping.connections;
    dropping.disconnect();
  }, 500);
  stack.defer(() => clearInterval(cutting));
  const port = await freePort();
  const config = configOf(model.url, all);
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  let running: RunningBinary | undefined;
  let lives = 0;
  let output = "";
  stack.defer(async () => running?.close());
  const stored = stack.move();

  const end = async (how: "kill" | "stop"): Promise<void> => {
    await (how === "kill" ? running!.kill9() : running!.stop());
    output += running!.output();
    running = undefined;
  };
  const writeOne = async ({ label, from, protocol }: Written, number: number): Promise<void> => {
    const message = { from, to: AGENT.pubkey, text: label, atMs: Date.now(), protocol };
    if (number % FORGED_EVERY === 0) {
      for (const forged of relaynetForgeries(message, label.replace("message", "forged"))) {
        counts.forged += 1;
        lying.plant(forged);
      }
    }
    const event = relaynetEvent(message);
    for (const relay of all) await relay.publish(event);
  };
  return {
    home: home.path,
    async begin() {
      lives += 1;
      running = await startBinary({ home: home.path, binary, env: { SVC__GATEWAY__PORT: String(port) } });
    },
    kill: () => end("kill"),
    stop: () => end("stop"),
    async write(messages: readonly Written[]) {
      for (const one of messages) {
        await writeOne(one, Number(/\d+/.exec(one.label)));
        // The daemon is another process: it gets its turn.
        await sleep(1);
      }
    },
    /** What people read on any relay, each message once. */
    shown: () => [...new Map(all.flatMap(({ sent }) => sent).map((one) => [one.id, one])).values()],
    output: () => output + (running?.output() ?? ""),
    facts: () => ({
      lives,
      "events not told": counts.untold,
      "frames swallowed": counts.swallowed,
      "connections ended": counts.cut,
      "events told twice": counts.repeated,
      "events altered": counts.altered,
      "forged messages": counts.forged,
    }),
    [Symbol.asyncDispose]: () => stored.disposeAsync(),
  };
}

const configOf = (model: string, relays: readonly Relaynet[]): string => `
[model]
provider = "openai-compatible"
name = "obedient"
base_url = "${model}"

[channels_config.relaynet]
private_key = "${AGENT.nsec}"
relays = ${JSON.stringify(relays.map(({ relay }) => relay))}
allowed_pubkeys = ${JSON.stringify(PEOPLE.map(({ npub }) => npub))}
`;
