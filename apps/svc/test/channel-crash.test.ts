// A message that kills the process, again and again: it must not take the service down for ever, nor the messages of others with
// it. And a backup that is put back must not answer a second time.
import { join } from "node:path";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { type PlatformsFixture, startPlatforms } from "./platforms-fixture.ts";

interface Line {
  readonly state: string;
  readonly text: string;
  readonly error: string | null;
}

const incoming = async (fixture: PlatformsFixture): Promise<Record<string, string>> => {
  const { messages } = await fixture.json<{ messages: Line[] }>("inbox", "list", "--box", "in");
  return Object.fromEntries(messages.map(({ text, state, error }) => [text, error ?? state]));
};

const lastWords = ({ body }: ModelRequest): string => JSON.stringify((body["messages"] as object[]).at(-1));

test("a message that kills the process is given up; those that were answered at the same moment are answered", async () => {
  const people = ["+15550000001", "+15550000002", "+15550000003"];
  let deaths = 0;
  let asked = 0;
  // Turns go on before a start has told its address.
  let started: Promise<unknown> = Promise.resolve();
  const die = (): void => {
    deaths += 1;
    asked = 0;
    void started.then(() => fixture.daemon.kill9());
  };
  // Twice all of them run when it strikes; from then on it should run alone.
  const script = (request: ModelRequest): ModelStep => {
    asked += 1;
    const isPoison = lastWords(request).includes("poison");
    if (deaths >= 2 && !isPoison) return { text: "an answer" };
    if (deaths < 2 ? asked === people.length + 1 : isPoison) setTimeout(die, 200);
    return { fault: "hang" };
  };
  await using fixture: PlatformsFixture = await startPlatforms({ script, allowed: "*" });
  await fixture.post("provider_a", fixture.from.a({ text: "poison" }));
  for (const from of people) await fixture.post("provider_a", fixture.from.a({ from, text: `of ${from}` }));
  for (let lives = 0; lives < 5; lives += 1) {
    await fixture.daemon.exited;
    started = fixture.start();
    await started;
  }
  const sent = await eventually(
    () => new Set(fixture.a.sent.map(({ to, text }) => `${to} ${text.slice(0, 5)}`)),
    ({ size }) => size > people.length,
  );
  expect(sent).toEqual(new Set(["+15551234567 Sorry", ...people.map((from) => `${from} an an`)]));
  expect(await incoming(fixture)).toEqual({
    ...Object.fromEntries(people.map((from) => [`of ${from}`, "done"])),
    poison: "TURN_CRASHED",
  });
});

test.each([
  { words: [], again: [] },
  { words: ["--with-waiting"], again: ["stuck"] },
])("a backup that is put back %j answers nothing twice unless it is told to", async ({ words, again }) => {
  await using fixture = await startPlatforms();
  using folder = temporaryHome();
  const file = join(folder.path, "backup.tar.gz");
  fixture.a.mood = "resets";
  await fixture.post("provider_a", fixture.from.a({ text: "stuck" }));
  await eventually(
    () => incoming(fixture),
    (messages) => messages["stuck"] === "done",
  );
  expect((await fixture.svc("backup", file)).code).toBe(0);
  fixture.a.mood = "takes";
  await fixture.daemon.stop();
  await fixture.start();
  await fixture.post("provider_a", fixture.from.a({ text: "after it" }));
  const sent = (): string[] => fixture.a.sent.map(({ text }) => text.split("\n")[0]!);
  await eventually(sent, ({ length }) => length === 2);
  await fixture.daemon.stop();
  const restored = await fixture.json<{ set_aside: object }>("restore", file, "--yes", ...words);
  expect(restored.set_aside).toEqual({ messages: 0, deliveries: words.length === 0 ? 1 : 0, runs: 0 });
  await fixture.start();
  await fixture.post("provider_a", fixture.from.a({ text: "a new one" }));
  await eventually(sent, (all) => all.includes("a new one"));
  expect(sent()).toEqual(["stuck", "after it", ...again, "a new one"]);
  const { messages } = await fixture.json<{ messages: Line[] }>("inbox", "list", "--state", "dropped");
  expect(messages).toHaveLength(1 - again.length);
});
