// A home that an older build left opens in this one, and nothing in it is lost. `older-home.tar.gz` was left by revision 771e4ddd,
// killed with -9 while the model thought about one message and the answer to another one could not be delivered.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { startPlatforms } from "./platforms-fixture.ts";

const ARCHIVE = join(import.meta.dirname, "older-home.tar.gz");
/** Addresses and the device's token at that time. */
const PLATFORM = "http://127.0.0.1:44507/v25.0";
const MODEL = "http://127.0.0.1:41105/v1";
const TOKEN = "svc_3685822ae5d0459b5d639ce357d229894ab2433a5dfe9e6c5b66238523c6d0a2";

interface Message {
  readonly text: string;
  readonly state: string;
}

test("opens a home of an older build: finishes what it had accepted, knows what it knew", async () => {
  const script = ({ body }: ModelRequest) => ({ text: `Model was told ${(body["messages"] as unknown[]).length}` });
  await using fixture = await startPlatforms({ script, idle: true });
  execFileSync("tar", ["-xzf", ARCHIVE, "-C", fixture.home, "--no-same-owner"]);
  const file = join(fixture.home, "config.toml");
  const config = readFileSync(file, "utf8").replace(PLATFORM, fixture.a.apiUrl).replace(MODEL, fixture.model!.url);
  writeFileSync(file, config);
  await fixture.start();

  // The message and the answer that waited, once each.
  const sent = await eventually(
    () => fixture.a.sent.map(({ to, text }) => `${to} ${text}`).sort(),
    ({ length }) => length >= 2,
  );
  expect(sent).toEqual([
    "+15550000002 You said: answer waits on the line",
    expect.stringMatching(/^\+15551234567 Model was told \d+$/),
  ]);
  const states = async (box: string): Promise<string[]> => {
    const { messages } = await fixture.json<{ messages: Message[] }>("inbox", "list", "--box", box);
    return messages.map(({ state }) => state);
  };
  expect(
    await eventually(
      () => states("in"),
      (all) => !all.includes("waiting"),
    ),
  ).toEqual(["done", "done", "done"]);
  expect(
    await eventually(
      () => states("out"),
      (all) => !all.includes("waiting"),
    ),
  ).toEqual(["sent", "sent", "sent"]);

  // The paired device, its conversation in order, and the memory the model is given.
  const get = async (path: string): Promise<never> =>
    (await (await fixture.daemon.request(path, { token: TOKEN })).json()) as never;
  const { sessions } = (await get("/api/sessions")) as { sessions: { id: string; title: string }[] };
  const kitchen = sessions.find(({ title }) => title === "remember the blue door");
  const { messages } = (await get(`/api/sessions/${kitchen?.id}/messages`)) as { messages: { text: string }[] };
  expect(messages.map(({ text }) => text)).toEqual([
    "remember the blue door",
    "You said: remember the blue door",
    "write a note please",
    // The tool call.
    "",
    "The note is written.",
  ]);
  const again = await fixture.daemon.request("/webhook", {
    token: TOKEN,
    headers: { "x-session-id": "kitchen" },
    body: { message: "and now?" },
  });
  expect(await again.json()).toMatchObject({ session_id: "kitchen" });
  expect(JSON.stringify(fixture.model!.requests.at(-1)!.body)).toContain("remember the blue door");

  // What governs: the approval, the procedure and its run, an audit log without a gap, secrets that this home's key opens.
  const { approvals } = await fixture.json<{ approvals: object[] }>("approvals", "list", "--status", "all");
  expect(approvals).toEqual([expect.objectContaining({ n: 1, run_id: "build-17", title: "Release 1.4" })]);
  const { runs } = await fixture.json<{ runs: object[] }>("sop", "runs");
  expect(runs).toEqual([expect.objectContaining({ sop: "greet", status: "completed", step: 2 })]);
  expect((await fixture.svc("sop", "validate")).stdout).toContain("greet: no problems");
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true, broken_at: null });
  const { secrets } = await fixture.json<{ secrets: { key: string; state: string }[] }>("secrets", "list");
  expect(secrets.filter(({ state }) => state === "encrypted").map(({ key }) => key)).toEqual([
    "model.api_key",
    "channels_config.provider_a.access_token",
    "channels_config.provider_a.verify_token",
    "channels_config.provider_a.app_secret",
  ]);
  expect(readFileSync(file, "utf8")).toBe(config);
});
