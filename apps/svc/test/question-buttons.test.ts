// Questions with buttons, with the real binary: a press counts once, over kills and shutdowns; a message that waits for a person
// is not given up because the service was restarted, and holds up nobody.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import type { ProviderASent } from "@svc/testkit/platforms/provider-a/server";
import { expect, test } from "vitest";
import { type ChannelHouse, eventually, PERSON } from "./channel-house.ts";
import { localModel } from "./daemon.ts";
import { startGovernedHouse } from "./governed-house.ts";

/** Of a message to the model: what was said last, by whom. */
const lastOf = ({ body }: ModelRequest) => (body["messages"] as { role: string; content: string }[]).at(-1)!;

/** Writes a note when it is told to, and says what came of it; anything else is said again. */
function script(request: ModelRequest): ModelStep {
  const { role, content } = lastOf(request);
  if (role === "tool") return { text: `the tool said ${content}` };
  if (content !== "write it down") return { text: `echo ${content}` };
  return { calls: [{ name: "file_write", input: { path: "note.txt", content: "once\n", mode: "append" } }] };
}

const noteIn = ({ home }: ChannelHouse): string => {
  try {
    return readFileSync(join(home, "workspace", "note.txt"), "utf8");
  } catch {
    return "";
  }
};

const questionsOf = ({ platform }: ChannelHouse): readonly ProviderASent[] =>
  platform.sent.filter(({ buttons }) => buttons.length > 0);
const textsOf = ({ platform }: ChannelHouse): readonly string[] => platform.sent.map(({ text }) => text);

/** As the platform tells of it. */
function press({ replies }: ProviderASent, label: string, from = PERSON) {
  const { id, title } = replies.find((button) => button.title === label)!;
  return { from, content: { type: "interactive", interactive: { type: "button_reply", button_reply: { id, title } } } };
}

async function askedHouse(model: Parameters<typeof localModel>[0]): Promise<[ChannelHouse, ProviderASent]> {
  const house = await startGovernedHouse();
  house.config(`${localModel(model)}\n[agent]\nmax_parallel_turns = 1\n[daemon]\ndrain_secs = 3600\n`);
  await house.daemon.close();
  house.daemon = await startBinary({ home: house.home });
  await house.write({ text: "write it down" });
  const [question] = await eventually(
    () => questionsOf(house),
    ({ length }) => length > 0,
  );
  return [house, question!];
}

const isOver = (texts: readonly string[]): boolean => texts.some((text) => text.startsWith("the tool said"));

test("a press answers, once, however often it is delivered and whatever is pressed later", async () => {
  await using model = await fakeModelServer({ script });
  const [house, question] = await askedHouse(model);
  await using _ = house;
  expect(question.buttons).toEqual(["Approve", "Reject"]);
  const yes = { id: "wamid.press", ...press(question, "Approve") };
  await Promise.all([house.write(yes), house.write(yes), house.write(yes)]);
  await eventually(() => textsOf(house), isOver);
  await house.write({ id: "wamid.late", ...press(question, "Reject") });
  await eventually(
    () => textsOf(house),
    (texts) => texts.length >= 4,
  );
  expect(noteIn(house)).toBe("once\n");
  const { approvals } = await house.json<{ approvals: { status: string }[] }>("approvals", "list", "--status", "all");
  expect(approvals.map(({ status }) => status)).toEqual(["approved"]);
  expect(textsOf(house).filter((text) => text.startsWith("echo"))).toEqual([]);
});

test("six kills and a shutdown later the question waits, is asked once, and its message is answered", async () => {
  await using model = await fakeModelServer({ script });
  const [house, question] = await askedHouse(model);
  await using _ = house;
  const token = await house.daemon.pair();
  for (let kill = 0; kill < 6; kill += 1) {
    await house.daemon.kill9();
    house.daemon = await startBinary({ home: house.home });
    // Somebody else is answered meanwhile, although there is a place for one turn.
    const hello = await house.daemon.request("/webhook", { method: "POST", token, body: { message: "hello" } });
    expect(((await hello.json()) as { response: string }).response).toBe("echo hello");
  }
  // For a turn it would wait longer than this test may take; for people it does not wait.
  expect(await house.daemon.stop()).toEqual({ code: 0, signal: null });
  house.daemon = await startBinary({ home: house.home });
  expect(questionsOf(house)).toHaveLength(1);
  await house.write(press(question, "Approve"));
  const texts = await eventually(() => textsOf(house), isOver);
  expect([noteIn(house), texts.filter((text) => text.startsWith("Sorry"))]).toEqual(["once\n", []]);
});

test("a stranger's press is not heard; /stop ends the question", async () => {
  await using model = await fakeModelServer({ script });
  const [house, question] = await askedHouse(model);
  await using _ = house;
  await house.write(press(question, "Approve", "+15559990000"));
  await house.write({ text: "/stop" });
  await eventually(
    () => textsOf(house),
    (texts) => texts.includes("Stopped."),
  );
  await house.write(press(question, "Approve"));
  const { approvals } = await house.json<{ approvals: { status: string }[] }>("approvals", "list", "--status", "all");
  expect([approvals.map(({ status }) => status), noteIn(house)]).toEqual([["cancelled"], ""]);
});
