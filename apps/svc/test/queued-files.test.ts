// A file that another program changes between the yes and the delivery: the platform gets what was queued and approved, or nothing,
// and the operator is told why.
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually, PERSON, startChannelFixture } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { startGovernedFixture } from "./governed-fixture.ts";

const CHANGES: Readonly<Record<string, { error: string | null; change(path: string): void }>> = {
  left: { error: null, change: () => undefined },
  changed: { error: "DELIVERY_FILE_CHANGED", change: (path) => writeFileSync(path, "%PDF-1.7 evil") },
  linked: {
    error: "DELIVERY_FILE_CHANGED",
    change: (path) => (
      writeFileSync(`${path}.other`, "%PDF-1.7 evil"),
      rmSync(path),
      symlinkSync(`${path}.other`, path)
    ),
  },
  "linked-out": { error: "DELIVERY_REFUSED", change: (path) => (rmSync(path), symlinkSync("/etc/passwd", path)) },
  replaced: {
    error: "DELIVERY_FILE_CHANGED",
    change: (path) => (writeFileSync(`${path}.other`, "%PDF-1.7 EVIL"), renameSync(`${path}.other`, path)),
  },
  deleted: { error: "DELIVERY_REFUSED", change: (path) => rmSync(path) },
};

interface Row {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
}

test("what is not the queued file any more after a kill is a dead letter, whatever took its place", async () => {
  await using fixture = await startChannelFixture();
  const folder = join(fixture.home, "workspace", "charts");
  mkdirSync(folder, { recursive: true });
  fixture.platform.mood = { refuses: 503 };
  const names = Object.keys(CHANGES);
  const content = (name: string): string => `%PDF-1.7 ${name}`;
  for (const [index, name] of names.entries()) {
    writeFileSync(join(folder, `${name}.pdf`), content(name));
    // Each to a person of its own: one that waits holds back what is behind it.
    const sent = await fixture.svc("send", "provider_a", `+1555000000${index}`, "", "--file", `charts/${name}.pdf`);
    expect(sent).toMatchObject({ code: 0 });
  }
  await fixture.daemon.kill9();
  for (const name of names) CHANGES[name]!.change(join(folder, `${name}.pdf`));
  fixture.platform.mood = "takes";
  fixture.daemon = await startBinary({ home: fixture.home });
  const rows = await eventually(
    async () => (await fixture.json<{ messages: Row[] }>("inbox", "list", "--box", "out")).messages.toReversed(),
    (messages) => messages.every(({ state }) => state !== "waiting"),
  );
  expect(rows.map(({ state, error }) => ({ state, error }))).toEqual(
    names.map((name) => ({ state: CHANGES[name]!.error ? "dead" : "sent", error: CHANGES[name]!.error })),
  );
  const taken = fixture.platform.sent.map(({ file }) => Buffer.from(file!.bytes).toString());
  expect(taken).toEqual([content("left")]);

  // Put back as it was, it goes out.
  const changed = rows[names.indexOf("changed")]!.id;
  writeFileSync(join(folder, "changed.pdf"), content("changed"));
  expect(await fixture.svc("inbox", "replay", changed)).toMatchObject({ code: 0 });
  const after = await eventually(
    () => fixture.platform.sent.map(({ file }) => Buffer.from(file!.bytes).toString()),
    ({ length }) => length === 2,
  );
  expect(after).toEqual([content("left"), content("changed")]);
});

/** Sends a file to a friend when it is asked anything, then says what came of it. */
const sendsFile = ({ body }: ModelRequest): ModelStep => {
  const last = (body["messages"] as { role: string; content: string }[]).at(-1);
  if (last?.role === "tool") return { text: `the tool said ${JSON.stringify(last.content)}` };
  const input = { channel: "provider_a", to: PERSON, text: "", files: ["chart.pdf"] };
  return { calls: [{ name: "channel_send", input }] };
};

interface Question {
  readonly n: number;
  readonly message: string;
}

async function asked(fixture: ChannelFixture): Promise<Question> {
  const waiting = await eventually(
    async () => (await fixture.json<{ approvals: Question[] }>("approvals", "list")).approvals,
    ({ length }) => length === 1,
  );
  return waiting[0]!;
}

const TARGETS = `allowed_targets = ["${PERSON}"]`;

test.each([
  { change: "left", told: /waiting|sent/ },
  { change: "changed", told: /TOOL_REFUSED: A file of the message was changed after a person approved it/ },
  { change: "linked", told: /TOOL_REFUSED: A file of the message was changed after a person approved it/ },
  { change: "deleted", told: /TOOL_BAD_INPUT/ },
])("a yes is to the file as it was when the person was asked: $change", async ({ change, told }) => {
  await using model = await fakeModelServer({ script: sendsFile });
  await using fixture = await startGovernedFixture();
  fixture.config(localModel(model), TARGETS);
  await fixture.svc("reload");
  const path = join(fixture.home, "workspace", "chart.pdf");
  writeFileSync(path, "%PDF-1.7 good");
  const token = await fixture.daemon.pair();
  const answer = fixture.daemon.request("/webhook", { method: "POST", token, body: { message: "send it" } });
  const question = await asked(fixture);
  expect(question.message).toContain(createHash("sha256").update("%PDF-1.7 good").digest("hex"));
  CHANGES[change]!.change(path);
  expect(await fixture.svc("approvals", "approve", String(question.n))).toMatchObject({ code: 0 });
  const { response } = (await (await answer).json()) as { response: string };
  expect(response).toMatch(told);
  const isLeft = change === "left";
  const sent = isLeft
    ? await eventually(
        () => fixture.platform.sent,
        ({ length }) => length > 0,
      )
    : fixture.platform.sent;
  expect(sent.map(({ file }) => Buffer.from(file!.bytes).toString())).toEqual(isLeft ? ["%PDF-1.7 good"] : []);
});

test("a file that changed while the question waited and the daemon was down is not sent by a yes", async () => {
  await using model = await fakeModelServer({ script: sendsFile });
  await using fixture = await startGovernedFixture();
  fixture.config(localModel(model), TARGETS);
  await fixture.svc("reload");
  const path = join(fixture.home, "workspace", "chart.pdf");
  writeFileSync(path, "%PDF-1.7 good");
  await fixture.write({ text: "send it" });
  const { n } = await asked(fixture);
  await fixture.daemon.kill9();
  writeFileSync(path, "%PDF-1.7 evil");
  fixture.daemon = await startBinary({ home: fixture.home });
  const texts = await eventually(
    () => fixture.platform.sent.map(({ text }) => text),
    (sent) => sent.some((text) => text.startsWith("the tool said")),
  );
  expect(texts.find((text) => text.startsWith("the tool said"))).toContain("changed since");
  await fixture.svc("approvals", "approve", String(n));
  expect(fixture.platform.sent.filter(({ file }) => file)).toEqual([]);
});
