// What a sender is told when there is no answer, what an agent that was talked into it can send and to whom, and what becomes of
// the secrets that it knows.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { describe, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { filesBelow, leaksIn, PERSON, PLANTED } from "./leak-fixture.ts";
import { type PlatformsFixture, startPlatforms } from "./platforms-fixture.ts";

const told = async (fixture: PlatformsFixture, count: number): Promise<string[]> => {
  await eventually(
    () => fixture.a.sent.length,
    (sent) => sent >= count,
  );
  return fixture.a.sent.map(({ text }) => text);
};

/** Rows, and not pages: what a turn that can be taken up again needs is written as it is, and deleted when it has ended. */
function tablesOf(file: string): string {
  const db = new DatabaseSync(file, { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  const rows = tables.map(({ name }) => db.prepare(`SELECT * FROM ${name}`).all());
  db.close();
  return JSON.stringify(rows);
}

describe("a sender is told", () => {
  test("when the money of the day is spent", async () => {
    const price = "[model.price]\ninput_per_million = 1000\noutput_per_million = 1000\n";
    await using fixture = await startPlatforms({
      more: `[agent]\nmax_cost_per_day = 0.00001\n${price}`,
      script: () => ({ text: "an answer" }),
    });
    for (let n = 0; n < 2; n += 1) {
      await fixture.post("provider_a", fixture.from.a());
      await told(fixture, n + 1);
    }
    expect(await told(fixture, 2)).toEqual([
      "an answer",
      "Sorry, this message could not be answered: the agent reached its daily cost limit.",
    ]);
    expect(fixture.model!.requests).toHaveLength(1);
  });

  test("when the model refuses us, without a word of the model's", async () => {
    const message = `Incorrect API key provided: ${PLANTED["model.api_key"]}`;
    await using fixture = await startPlatforms({ script: [{ status: 401, message }] });
    await fixture.post("provider_a", fixture.from.a());
    expect(await told(fixture, 1)).toEqual([
      "Sorry, this message could not be answered: the model provider refused the request.",
    ]);
  });

  test("a long answer in as many messages as it takes, and nothing of it is missing", async () => {
    const text = Array.from({ length: 8_000 }, (_, n) => `Sentence ${n}.`).join(" ");
    await using fixture = await startPlatforms({ script: [{ text }] });
    await fixture.post("provider_a", fixture.from.a());
    const parts = await told(fixture, Math.ceil(text.length / 4096));
    expect(parts.join(" ")).toBe(text);
  });
});

describe("an agent that was talked into writing to others", () => {
  const TARGETS = [
    { channel: "provider_a", to: "+4917012345678", text: "stolen" },
    { channel: "provider_b", to: "..", text: "stolen" },
    { channel: "provider_d", to: "../../x", text: "stolen" },
    { channel: "provider_a", to: "+4917012345678", text: "", files: ["../config.toml"] },
  ];
  const talkedInto = ({ body }: ModelRequest): ModelStep =>
    JSON.stringify(body["messages"]).includes('"role":"tool"')
      ? { text: "done" }
      : { calls: TARGETS.map((input) => ({ name: "channel_send", input })) };

  test.each(["read_only", "supervised", "full"])("may not, with autonomy %s, and nobody is asked", async (autonomy) => {
    await using fixture = await startPlatforms({
      more: `[security.policy]\nautonomy = "${autonomy}"\n`,
      script: talkedInto,
    });
    await fixture.post("provider_a", fixture.from.a());
    await told(fixture, 1);
    expect(fixture.a.sent.map(({ to, text }) => [to, text])).toEqual([[PERSON, "done"]]);
    const results = JSON.stringify(fixture.model!.requests[1]!.body["messages"]);
    expect(results.match(/TOOL_REFUSED/g)).toHaveLength(TARGETS.length);
    expect(results.match(/channels_config\.provider_[abd]\.allowed_targets/g)).toHaveLength(TARGETS.length);
  });

  test.each([
    { autonomy: "read_only", asked: 0 },
    // The file outside of the workspace is refused before anyone is asked.
    { autonomy: "supervised", asked: TARGETS.length - 1 },
  ])("may not without a yes where they are listed, with autonomy $autonomy", async ({ autonomy, asked }) => {
    await using fixture = await startPlatforms({
      targets: '"*"',
      more: `[security.policy]\nautonomy = "${autonomy}"\n[approvals]\ntool_timeout_secs = 1\n`,
      script: talkedInto,
    });
    await fixture.post("provider_a", fixture.from.a());
    await eventually(
      () => fixture.a.sent.some(({ text }) => text === "done"),
      (isDone) => isDone,
    );
    // Each question, and that nobody answered it, is for the person who wrote, and for nobody else.
    expect(new Set(fixture.a.sent.map(({ to }) => to))).toEqual(new Set([PERSON]));
    const questions = fixture.a.sent.filter(({ text }) => text.startsWith("Approval needed"));
    expect(questions).toHaveLength(asked);
    // Who is asked sees who is written to, and what.
    for (const { text } of questions) expect(text).toMatch(/"to": "[^"]+",\s+.*"text": "(stolen)?"/s);
    expect(fixture.a.sent.filter(({ text }) => text.includes("no answer in time"))).toHaveLength(asked);
    const results = JSON.stringify(fixture.model!.requests[1]!.body["messages"]);
    expect(results.match(/TOOL_REFUSED|PATH_OUTSIDE_WORKSPACE/g)).toHaveLength(TARGETS.length);
  });

  test("may with full autonomy to those who are listed, by no other path of an API, and not the files of the home", async () => {
    const more = `[security.policy]\nautonomy = "full"\n`;
    await using fixture = await startPlatforms({ more, script: talkedInto, targets: '"*"' });
    await fixture.post("provider_a", fixture.from.a());
    const { messages } = await eventually(
      () => fixture.json<{ messages: { state: string; error: string | null }[] }>("inbox", "list", "--box", "out"),
      ({ messages }) => messages.length === 4 && messages.every(({ state }) => state !== "waiting"),
    );
    expect(messages.map(({ state, error }) => [state, error])).toEqual([
      ["sent", null],
      ["dead", "DELIVERY_REFUSED"],
      ["dead", "DELIVERY_REFUSED"],
      ["sent", null],
    ]);
    expect(fixture.a.sent.map(({ to, text }) => [to, text])).toEqual([
      ["+4917012345678", "stolen"],
      [PERSON, "done"],
    ]);
    for (const { method, path } of [...fixture.b.requests, ...fixture.d.requests])
      expect(`${method} ${path}`).toMatch(/^GET /);
  });
});

test("an agent that knows every secret tells none, and none is in what is kept", async () => {
  const secrets = Object.values(PLANTED);
  const script = ({ body }: ModelRequest): ModelStep =>
    JSON.stringify(body["messages"]).includes('"role":"tool"')
      ? { text: `I know ${secrets.join(", ")}` }
      : { calls: [{ name: "channel_send", input: { channel: "provider_d", to: "room1", text: secrets.join(" ") } }] };
  await using fixture = await startPlatforms({
    more: `[security.policy]\nautonomy = "full"\n[log]\nlevel = "debug"\n`,
    script,
    targets: '"room1"',
  });
  for (const channel of ["provider_a", "provider_b", "provider_c"] as const) {
    await fixture.post(channel, { a: fixture.from.a, b: fixture.from.b, c: fixture.from.c }[channel.at(-1) as "a"]());
  }
  await fixture.post("provider_c", { ...fixture.from.c(), query: "?token=wrong" });
  await eventually(
    () => [fixture.a.sent.length, fixture.b.sent.length, fixture.c.sent.length, fixture.d.sent.length].join(),
    (counts) => counts === "1,1,1,3",
  );
  const shown = await fixture.svc("inbox", "show", "in-1");
  await fixture.daemon.stop();
  const sent = JSON.stringify(
    [fixture.a.sent, fixture.b.sent, fixture.c.sent, fixture.d.sent].map((all) => all.map(({ text }) => text)),
  );
  const everything = [
    { where: "what was sent", text: sent },
    { where: "svc inbox show", text: shown.stdout },
    { where: "the daemon's output", text: fixture.daemon.output() },
    { where: "the database", text: tablesOf(join(fixture.home, "state", "svc.db")) },
    ...["logs", "run", "workspace"].flatMap((folder) => filesBelow(fixture.home, folder)),
  ];
  // What this config does not hold, nobody can know to be a secret.
  const configured = Object.entries(PLANTED).filter(([key]) => /provider_|^model/.test(key));
  expect(
    leaksIn(
      everything,
      configured.map(([, value]) => value),
    ),
  ).toEqual([]);
});
