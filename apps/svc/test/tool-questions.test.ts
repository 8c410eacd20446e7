// A tool call that the policy says to ask for, with the real binary: the question comes to the conversation that caused it, to
// the command line and to the stream; the turn waits over a kill, and the call is made once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { startGovernedFixture } from "./governed-fixture.ts";

const isAfterTool = ({ body }: ModelRequest): boolean =>
  (body["messages"] as { role: string }[]).at(-1)?.role === "tool";

/** Writes a note when it is asked anything, then says what came of it. */
const writesNote = (request: ModelRequest): ModelStep =>
  isAfterTool(request)
    ? { text: `the tool said ${JSON.stringify((request.body["messages"] as { content: string }[]).at(-1)?.content)}` }
    : { calls: [{ name: "file_write", input: { path: "note.txt", content: "once\n", mode: "append" } }] };

const noteIn = (fixture: ChannelFixture): string => {
  try {
    return readFileSync(join(fixture.home, "workspace", "note.txt"), "utf8");
  } catch {
    return "";
  }
};

const waiting = async (fixture: ChannelFixture): Promise<readonly { n: number; origin: string; title: string }[]> =>
  (await fixture.json<{ approvals: { n: number; origin: string; title: string }[] }>("approvals", "list")).approvals;

test("the question is posted where the call came from, outlives a kill, and a yes there makes the call once", async () => {
  await using model = await fakeModelServer({ script: writesNote });
  await using fixture = await startGovernedFixture();
  fixture.config(localModel(model), 'approvers = ["+15551234567"]');
  await fixture.svc("reload");
  await fixture.write({ text: "write it down" });
  const question = await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  expect(question).toHaveLength(1);
  expect(await waiting(fixture)).toEqual([
    expect.objectContaining({ origin: "tool", title: "May the agent run file_write?" }),
  ]);
  await fixture.daemon.kill9();
  fixture.daemon = await startBinary({ home: fixture.home });
  expect(await waiting(fixture)).toHaveLength(1);
  await fixture.write({ text: "yes" });
  const sent = await eventually(
    () => fixture.platform.sent.map(({ text }) => text),
    (texts) => texts.some((text) => text.startsWith("the tool said")),
  );
  expect(noteIn(fixture)).toBe("once\n");
  // The question, the word to the one who answered, the answer of the turn: each once.
  expect(sent).toHaveLength(3);
  expect(await waiting(fixture)).toEqual([]);
});

test("a chat without approvers offers the command for the asker's account; once it has run, a yes there counts", async () => {
  await using model = await fakeModelServer({ script: writesNote });
  await using fixture = await startGovernedFixture();
  fixture.config(localModel(model), "approvers = []");
  await fixture.svc("reload");
  await fixture.write({ text: "write it down" });
  const question = await eventually(
    () => fixture.platform.sent[0]?.text ?? "",
    (text) => text !== "",
  );
  expect(question).toContain("No account may answer in this chat.");
  const offered = /svc (config set channels_config\.provider_a\.approvers) '(\["\+15551234567"\])'/.exec(question);
  expect(offered).not.toBeNull();
  expect(fixture.daemon.output()).toContain("no account may answer approval requests in this channel");

  expect((await fixture.svc(...offered![1]!.split(" "), offered![2]!)).code).toBe(0);
  await fixture.write({ text: "yes" });
  await eventually(
    () => noteIn(fixture),
    (note) => note !== "",
  );
  expect([noteIn(fixture), await waiting(fixture)]).toEqual(["once\n", []]);
});

test("an HTTP turn waits for the command line; a no goes to the model with its feedback", async () => {
  await using model = await fakeModelServer({ script: writesNote });
  await using fixture = await startGovernedFixture();
  fixture.config(localModel(model));
  await fixture.svc("reload");
  const token = await fixture.daemon.pair();
  const answer = fixture.daemon.request("/webhook", { method: "POST", token, body: { message: "write it down" } });
  const [asked] = await eventually(
    () => waiting(fixture),
    ({ length }) => length === 1,
  );
  const said = await fixture.svc("approvals", "reject", String(asked!.n), "--feedback", "not today");
  expect(said.code).toBe(0);
  const { response } = (await (await answer).json()) as { response: string };
  expect(response).toContain("not today");
  expect(noteIn(fixture)).toBe("");
});

test("nobody answers: the call is refused, never made", async () => {
  await using model = await fakeModelServer({ script: writesNote });
  await using fixture = await startGovernedFixture();
  fixture.config(`${localModel(model)}\n[approvals]\ntool_timeout_secs = 1\n`);
  await fixture.svc("reload");
  const token = await fixture.daemon.pair();
  const answer = await fixture.daemon.request("/webhook", {
    method: "POST",
    token,
    body: { message: "write it down" },
  });
  expect(((await answer.json()) as { response: string }).response).toContain("no answer in time");
  expect(noteIn(fixture)).toBe("");
  const { approvals } = await fixture.json<{ approvals: { status: string }[] }>("approvals", "list", "--status", "all");
  expect(approvals.map(({ status }) => status)).toEqual(["expired"]);
});
