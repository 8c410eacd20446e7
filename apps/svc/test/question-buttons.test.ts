// Questions with buttons, with the real binary: a press counts once, over kills and shutdowns; a message that waits for a person
// is not given up because the service was restarted, and holds up nobody.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import type { ProviderASent } from "@svc/testkit/platforms/provider-a/server";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually, PERSON } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { startGovernedFixture } from "./governed-fixture.ts";

/** Of a message to the model: what was said last, by whom. */
const lastOf = ({ body }: ModelRequest) => (body["messages"] as { role: string; content: string }[]).at(-1)!;

/** Writes a note when it is told to, and says what came of it; anything else is said again. */
function script(request: ModelRequest): ModelStep {
  const { role, content } = lastOf(request);
  if (role === "tool") return { text: `the tool said ${content}` };
  if (content !== "write it down") return { text: `echo ${content}` };
  return { calls: [{ name: "file_write", input: { path: "note.txt", content: "once\n", mode: "append" } }] };
}

const noteIn = ({ home }: ChannelFixture): string => {
  try {
    return readFileSync(join(home, "workspace", "note.txt"), "utf8");
  } catch {
    return "";
  }
};

const questionsOf = ({ platform }: ChannelFixture): readonly ProviderASent[] =>
  platform.sent.filter(({ buttons }) => buttons.length > 0);
const textsOf = ({ platform }: ChannelFixture): readonly string[] => platform.sent.map(({ text }) => text);

/** As the platform tells of it. */
function press({ replies }: ProviderASent, label: string, from = PERSON) {
  const { id, title } = replies.find((button) => button.title === label)!;
  return { from, content: { type: "interactive", interactive: { type: "button_reply", button_reply: { id, title } } } };
}

async function askedFixture(model: Parameters<typeof localModel>[0]): Promise<[ChannelFixture, ProviderASent]> {
  const fixture = await startGovernedFixture();
  fixture.config(`${localModel(model)}\n[agent]\nmax_parallel_turns = 1\n[daemon]\ndrain_secs = 3600\n`);
  await fixture.daemon.close();
  fixture.daemon = await startBinary({ home: fixture.home });
  await fixture.write({ text: "write it down" });
  const [question] = await eventually(
    () => questionsOf(fixture),
    ({ length }) => length > 0,
  );
  return [fixture, question!];
}

const isOver = (texts: readonly string[]): boolean => texts.some((text) => text.startsWith("the tool said"));

test("a press answers, once, however often it is delivered and whatever is pressed later", async () => {
  await using model = await fakeModelServer({ script });
  const [fixture, question] = await askedFixture(model);
  await using _ = fixture;
  expect(question.buttons).toEqual(["Approve", "Reject"]);
  const yes = { id: "wamid.press", ...press(question, "Approve") };
  await Promise.all([fixture.write(yes), fixture.write(yes), fixture.write(yes)]);
  await eventually(() => textsOf(fixture), isOver);
  await fixture.write({ id: "wamid.late", ...press(question, "Reject") });
  await eventually(
    () => textsOf(fixture),
    (texts) => texts.length >= 4,
  );
  expect(noteIn(fixture)).toBe("once\n");
  const { approvals } = await fixture.json<{ approvals: { status: string }[] }>("approvals", "list", "--status", "all");
  expect(approvals.map(({ status }) => status)).toEqual(["approved"]);
  expect(textsOf(fixture).filter((text) => text.startsWith("echo"))).toEqual([]);
});

test("six kills and a shutdown later the question waits, is asked once, and its message is answered", async () => {
  await using model = await fakeModelServer({ script });
  const [fixture, question] = await askedFixture(model);
  await using _ = fixture;
  const token = await fixture.daemon.pair();
  for (let kill = 0; kill < 6; kill += 1) {
    await fixture.daemon.kill9();
    fixture.daemon = await startBinary({ home: fixture.home });
    // Somebody else is answered meanwhile, although there is a place for one turn.
    const hello = await fixture.daemon.request("/webhook", { method: "POST", token, body: { message: "hello" } });
    expect(((await hello.json()) as { response: string }).response).toBe("echo hello");
  }
  // For a turn it would wait longer than this test may take; for people it does not wait.
  expect(await fixture.daemon.stop()).toEqual({ code: 0, signal: null });
  fixture.daemon = await startBinary({ home: fixture.home });
  expect(questionsOf(fixture)).toHaveLength(1);
  await fixture.write(press(question, "Approve"));
  const texts = await eventually(() => textsOf(fixture), isOver);
  expect([noteIn(fixture), texts.filter((text) => text.startsWith("Sorry"))]).toEqual(["once\n", []]);
});

test("a stranger's press is not heard; /stop ends the question", async () => {
  await using model = await fakeModelServer({ script });
  const [fixture, question] = await askedFixture(model);
  await using _ = fixture;
  await fixture.write(press(question, "Approve", "+15559990000"));
  await fixture.write({ text: "/stop" });
  await eventually(
    () => textsOf(fixture),
    (texts) => texts.includes("Stopped."),
  );
  await fixture.write(press(question, "Approve"));
  const { approvals } = await fixture.json<{ approvals: { status: string }[] }>("approvals", "list", "--status", "all");
  expect([approvals.map(({ status }) => status), noteIn(fixture)]).toEqual([["cancelled"], ""]);
});
