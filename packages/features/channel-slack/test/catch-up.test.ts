// What was written while no one listened must be found, in its order and once; what no one waits for any more must not be answered.
import type { Section } from "@svc/testkit/conformance/channel-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { SLACK_BOT, slackDmOf } from "@svc/testkit/platforms/slack/workspace";
import { describe, expect, test } from "vitest";
import { message, never, NOW_MS, PERSON, platform, STRANGER } from "./fixture.ts";
import { type Listening, listening } from "./listening.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const CHANNEL = "C0GENERAL";
const BOT = `<@${SLACK_BOT.user}>`;

const texts = ({ kept }: Pick<Listening, "kept">): string[] => kept.map(({ text }) => text);

/** One process after the other, over the same disk and on the same platform; nothing comes in by itself unless told so. */
async function home(section: Section = { mode: "events" }) {
  const slack = await platform();
  const clock = fakeClock(NOW_MS);
  const state = memorySecrets();
  slack.workspace.dm(PERSON);
  slack.workspace.add({ id: CHANNEL, kind: "channel", name: "general" });
  const start = () => listening({ slack, clock, state, section });
  /** Until when the channel says that it has heard all. */
  const lastMs = async (): Promise<number> => Number((await state.get("listened"))?.split(" ")[1] ?? NOW_MS);
  return {
    slack,
    clock,
    state,
    start,
    /** A process that has caught up with all, and is stopped. */
    async visit(): Promise<Listening> {
      const before = await lastMs();
      const at = await start();
      let now = before;
      await at.until(() => {
        void lastMs().then((read) => (now = read));
        return now > before;
      }, 100);
      await at.stop();
      return at;
    },
    write: (text: string, more: Partial<Parameters<typeof slack.write>[0]> = {}) =>
      slack.write({ text, from: PERSON, atMs: clock.now(), ...more }),
    [Symbol.asyncDispose]: () => slack.close(),
  };
}

describe("the next process", () => {
  test("hears what was written to it meanwhile, and nothing else", async () => {
    await using place = await home();
    await place.visit();
    place.write("one");
    place.write("a stranger's", { from: STRANGER });
    place.write("ours", { own: true });
    place.write("among each other", { channel: CHANNEL });
    place.write(`${BOT} two`, { channel: CHANNEL });
    place.write("three");
    const at = await place.visit();
    expect(texts(at).toSorted()).toEqual(["one", "three", "two"]);
    expect(texts(at).filter((text) => text !== "two")).toEqual(["one", "three"]);
  });

  test("hears nothing that was written before the bot was there", async () => {
    await using place = await home();
    place.slack.write({ text: "long ago", from: PERSON, atMs: NOW_MS - DAY_MS });
    const first = await place.visit();
    const second = await place.visit();
    expect([texts(first), texts(second)]).toEqual([[], []]);
  });

  test("hears nothing that is older than a week", async () => {
    await using place = await home();
    await place.visit();
    place.write("old");
    await place.clock.advance(8 * DAY_MS);
    place.write("new");
    expect(texts(await place.visit())).toEqual(["new"]);
  });

  test("hears again what the last one had just heard, which is then known by its id", async () => {
    await using place = await home();
    await place.visit();
    place.write("one");
    const at = await place.visit();
    const again = await place.visit();
    expect(at.kept.map(({ id }) => id)).toEqual(again.kept.map(({ id }) => id));
  });

  test("hears what was written in threads that the bot takes part in", async () => {
    await using place = await home();
    const parent = place.write(`${BOT} question`, { channel: CHANNEL });
    const other = place.write("another", { channel: CHANNEL });
    const first = await place.start();
    await first.fixture.channel.send(
      message("answer", { conversation: { channel: "slack", id: CHANNEL, thread: parent } }),
      never,
    );
    await first.stop();
    place.write("and then?", { channel: CHANNEL, threadTs: parent });
    place.write("not to the bot", { channel: CHANNEL, threadTs: other });
    const at = await place.visit();
    expect(at.kept.filter(({ text }) => text !== "question")).toMatchObject([
      { text: "and then?", conversation: { id: CHANNEL, thread: parent } },
    ]);
  });

  test("hears who wrote for the first time, and a group", async () => {
    await using place = await home();
    await place.visit();
    place.slack.workspace.add({ id: "C0SEVERAL", kind: "mpim" });
    place.write("in a group", { channel: "C0SEVERAL" });
    expect((await place.visit()).kept).toMatchObject([{ text: "in a group", group: true }]);
  });

  test("has it in its order, what comes in meanwhile behind it", async () => {
    await using place = await home({});
    await place.visit();
    const expected = Array.from({ length: 30 }, (_, index) => `Message ${index}`);
    for (const text of expected) place.write(text);
    const at = await place.start();
    await at.slack.socket.opened(2);
    place.write("live");
    await at.until(() => at.kept.length > 30, 100);
    await at.stop();
    expect(texts(at)).toEqual([...expected, "live"]);
  });

  test("looks at six hundred messages of a conversation, and says that there were more", async () => {
    await using place = await home();
    await place.visit();
    for (let count = 0; count < 700; count += 1) place.write(`Message ${count}`);
    const at = await place.visit();
    expect([texts(at).length, texts(at)[0], texts(at).at(-1)]).toEqual([600, "Message 100", "Message 699"]);
    expect(at.fixture.context.log.text()).toContain("more was written while away");
  });
});

describe("a platform that is out of order", () => {
  test("is asked again, and what was missed is heard then", async () => {
    await using place = await home();
    await place.visit();
    place.write("one");
    let faults = 0;
    place.slack.mood = ({ path }) =>
      /users\.conversations|history/.test(path) && (faults += 1) % 3 !== 0
        ? faults % 2 === 0
          ? { rateLimits: 2 }
          : { refuses: 503 }
        : "takes";
    const at = await place.start();
    await at.until(() => at.kept.length === 1, 500);
    await at.stop();
    expect(texts(at)).toEqual(["one"]);
  });

  test("is no reason not to hear what comes in now", async () => {
    await using place = await home({});
    await place.visit();
    place.slack.mood = ({ path }) => (/users\.conversations|history/.test(path) ? { refuses: 503 } : "takes");
    const at = await place.start();
    await at.slack.socket.opened(2);
    place.write("live");
    await at.until(() => at.kept.length === 1, 100);
    await at.stop();
    expect(texts(at)).toEqual(["live"]);
  });

  test("does not make the next process forget: as long as something could not be looked for, it is", async () => {
    await using place = await home();
    await place.visit();
    place.write("one");
    await place.clock.advance(30 * MINUTE_MS);
    place.slack.mood = ({ path }) => (path.endsWith("history") ? { refuses: 503 } : "takes");
    const at = await place.start();
    await at.until(() => place.slack.requests.filter(({ path }) => path.endsWith("history")).length > 20, 1_000);
    await at.stop();
    expect(texts(at)).toEqual([]);
    place.slack.mood = "takes";
    expect(texts(await place.visit())).toEqual(["one"]);
  });

  test("whose scope is missing is told to the log, and listened to", async () => {
    await using place = await home();
    await place.visit();
    place.slack.scopes.delete("im:history");
    place.write("one");
    const at = await place.visit();
    expect(at.fixture.context.log.text()).toContain("could not be looked for");
    expect(texts(at)).toEqual([]);
  });
});

test("with a socket it is looked for as well", async () => {
  await using place = await home({});
  await place.visit();
  place.write("one");
  const at = await place.visit();
  expect(at.kept).toMatchObject([{ text: "one", conversation: { id: slackDmOf(PERSON) } }]);
  expect(place.slack.socket.acknowledged).toEqual([]);
});

test("what is written between two connections of one process comes before what comes by the second", async () => {
  await using place = await home({});
  await place.visit();
  await using at = await place.start();
  const { socket, called } = place.slack;
  await at.until(() => socket.connections === 1);
  place.write("one");
  await at.until(() => at.kept.length === 1);
  const connections = (): number => called.filter((name) => name === "apps.connections.open").length;
  const before = connections();
  socket.askToLeave("refresh_requested");
  socket.dropOldest();
  await at.until(() => socket.connections === 0);
  place.write("two");
  await at.until(() => connections() > before && socket.connections === 1, 100);
  place.write("three");
  await at.until(() => at.kept.length === 3);
  expect(texts(at)).toEqual(["one", "two", "three"]);
});

test("what is written between two connections is found though nothing comes by the second", async () => {
  await using place = await home({});
  await place.visit();
  await using at = await place.start();
  const { socket } = place.slack;
  await at.until(() => socket.connections === 1);
  place.write("one");
  await at.until(() => at.kept.length === 1);
  socket.askToLeave("refresh_requested");
  socket.dropOldest();
  await at.until(() => socket.connections === 0);
  place.write("two");
  await at.until(() => at.kept.length === 2, 100);
  expect(texts(at)).toEqual(["one", "two"]);
});
