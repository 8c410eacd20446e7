// A yes that holds for longer, with the real binary over HTTP: in the conversation, or always, for the same call and no other; the
// config keeps its comments, the audit log says what was approved, and a revoked rule asks again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { startGovernedFixture } from "./governed-fixture.ts";

interface Asked {
  readonly n: number;
  readonly run_id: string;
  readonly step_id: string;
  readonly detail: {
    readonly command?: string;
    readonly summary: string;
    readonly change?: { readonly lines: readonly string[]; readonly before: string };
  };
  readonly offers: {
    readonly conversation: string | null;
    readonly always: string | null;
    readonly reason: string | null;
  };
}

/** `run <command>`, or `write <content>` to a note; then it says what came of it. */
function obeys({ body }: ModelRequest): ModelStep {
  const last = (body["messages"] as { role: string; content: unknown }[]).at(-1)!;
  const text = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
  if (last.role === "tool") return { text: `the tool said ${text}` };
  const [, command] = /run (.*)$/s.exec(text) ?? [];
  if (command !== undefined) return { calls: [{ name: "shell", input: { command } }] };
  const [, content = ""] = /write (.*)$/s.exec(text) ?? [];
  return { calls: [{ name: "file_write", input: { path: "note.txt", content: content.replaceAll("|", "\n") } }] };
}

const COMMENTED = `
[security.sandbox]
backend = "none" # a test machine

# Nothing runs unasked.
[security.policy]
autonomy = "supervised" # as it came
`;

async function open(fixture: ChannelFixture, model: Parameters<typeof localModel>[0]) {
  fixture.config(`${localModel(model)}${COMMENTED}`);
  await fixture.svc("reload");
  const token = await fixture.daemon.pair();
  const json = async (path: string, options: object = {}): Promise<never> =>
    (await (await fixture.daemon.request(path, { token, ...options })).json()) as never;
  const say = async (message: string, session = "s"): Promise<string> => {
    const headers = { "x-session-id": session };
    const response = await fixture.daemon.request("/webhook", { method: "POST", token, headers, body: { message } });
    return ((await response.json()) as { response: string }).response;
  };
  const waiting = async (): Promise<readonly Asked[]> =>
    ((await json("/api/approvals?status=waiting")) as { approvals: Asked[] }).approvals;
  const asked = async (): Promise<Asked> => (await eventually(waiting, ({ length }) => length === 1))[0]!;
  const answer = async (one: Asked, body: object): Promise<Response> =>
    fixture.daemon.request(`/api/approvals/${one.run_id}/${one.step_id}`, { method: "POST", token, body });
  return { token, json, say, waiting, asked, answer };
}

test("always: not asked again, in any conversation, over a restart; another call is; revoked, it asks again", async () => {
  await using model = await fakeModelServer({ script: obeys });
  await using fixture = await startGovernedFixture();
  const { json, say, asked, answer, waiting } = await open(fixture, model);

  const first = say("run echo from-the-tool");
  const question = await asked();
  expect(question.detail.command).toBe("echo from-the-tool");
  expect(question.offers).toEqual({
    conversation: "shell: echo from-the-tool",
    always: "shell: echo from-the-tool",
    reason: null,
  });
  expect((await answer(question, { approved: true, holds: "always" })).status).toBe(200);
  expect(await first).toContain("from-the-tool");
  const file = readFileSync(join(fixture.home, "config.toml"), "utf8");
  expect(file).toContain(
    '# Nothing runs unasked.\n[security.policy]\nautonomy = "supervised" # as it came\nalways = [',
  );
  expect(file).toContain('{ agent = "default", tool = "shell", command = "echo from-the-tool", folder = "." }');

  expect(await say("run echo   'from-the-tool'")).toContain("from-the-tool");
  await fixture.daemon.kill9();
  fixture.daemon = await startBinary({ home: fixture.home });
  expect(await say("run echo from-the-tool", "another")).toContain("from-the-tool");
  expect(await waiting()).toEqual([]);

  // More than what was approved.
  const more = say("run echo from-the-tool; echo more");
  expect((await answer(await asked(), { approved: false, feedback: "too much" })).status).toBe(200);
  expect(await more).toContain("TOOL_REJECTED: A person rejected this call: too much");

  const { rules } = (await json("/api/policy-rules")) as { rules: { id: string; pattern: string }[] };
  expect(rules).toEqual([
    { id: expect.any(String), agent: "default", tool: "shell", pattern: "shell: echo from-the-tool" },
  ]);
  expect(await fixture.json<object>("approvals", "rules")).toEqual({ rules });
  expect((await fixture.svc("approvals", "revoke", rules[0]!.id)).code).toBe(0);
  expect((await fixture.svc("approvals", "revoke", rules[0]!.id)).code).not.toBe(0);
  expect(readFileSync(join(fixture.home, "config.toml"), "utf8")).toContain('autonomy = "supervised" # as it came');
  const again = say("run echo from-the-tool");
  expect((await answer(await asked(), { approved: false })).status).toBe(200);
  expect(await again).toContain("TOOL_REJECTED");

  const { entries } = (await json("/api/audit")) as { entries: { kind: string; data: Record<string, unknown> }[] };
  const told = entries
    .toReversed()
    .map(({ kind, data }) => [kind, data["call"] ?? data["pattern"], data["holds"] ?? data["outcome"]]);
  expect(told.filter(([kind]) => kind !== "approval-request")).toEqual([
    ["approval-answer", "echo from-the-tool", "always"],
    ["policy-rule-add", "shell: echo from-the-tool", undefined],
    ["approval-answer", "echo from-the-tool; echo more", "rejected"],
    ["policy-rule-remove", "shell: echo from-the-tool", undefined],
    ["approval-answer", "echo from-the-tool", "rejected"],
  ]);
});

test("what must ask each time can't be allowed for longer, whatever the request says", async () => {
  await using model = await fakeModelServer({ script: obeys });
  await using fixture = await startGovernedFixture();
  const { say, asked, answer } = await open(fixture, model);
  for (const command of ["sh -c 'echo x'", "env echo x", "echo $HOME", "ls *"]) {
    const turn = say(`run ${command}`);
    const question = await asked();
    expect(question.offers).toEqual({ conversation: null, always: null, reason: expect.stringMatching(/\.$/) });
    for (const holds of ["always", "conversation"]) {
      const refused = await answer(question, { approved: true, holds });
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([400, "BAD_REQUEST"]);
    }
    expect((await answer(question, { approved: true, holds: "forever" })).status).toBe(400);
    expect((await answer(question, { approved: false })).status).toBe(200);
    await turn;
  }
});

test("for the conversation: a file of any content there, over a kill, and until it is deleted", async () => {
  await using model = await fakeModelServer({ script: obeys });
  await using fixture = await startGovernedFixture();
  const { json, say, asked, answer, waiting, token } = await open(fixture, model);
  const first = say("write one|two|three|");
  const question = await asked();
  expect(question.detail.change).toMatchObject({ before: "missing", lines: ["+one", "+two", "+three"] });
  expect(question.offers).toMatchObject({
    conversation: 'file_write {"mode":"replace","path":"note.txt"}, any content',
    always: null,
  });
  expect((await answer(question, { approved: true, holds: "conversation" })).status).toBe(200);
  await first;
  await say("write one|2|three|");
  await fixture.daemon.kill9();
  fixture.daemon = await startBinary({ home: fixture.home });
  await say("write one|deux|three|");
  expect(readFileSync(join(fixture.home, "workspace", "note.txt"), "utf8")).toBe("one\ndeux\nthree\n");
  expect(await waiting()).toEqual([]);

  const elsewhere = say("write elsewhere", "other");
  const shown = await asked();
  expect(shown.detail.change?.lines).toEqual(["-one", "-deux", "-three", "+elsewhere"]);
  await answer(shown, { approved: false });
  await elsewhere;

  const { sessions } = (await json("/api/sessions")) as { sessions: { id: string; session_id: string }[] };
  const { id } = sessions.find(({ session_id: name }) => name === "s")!;
  await fixture.daemon.request(`/api/sessions/${id}`, { method: "DELETE", token });
  const anew = say("write again");
  await answer(await asked(), { approved: false });
  expect(await anew).toContain("TOOL_REJECTED");
});
