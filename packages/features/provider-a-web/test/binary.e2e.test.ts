// The whole binary: an account that was logged out is linked again and its conversations go on, its keys are nowhere to be read, and on a
// full disk no message counts as received whose keys could not be written.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { codeIn } from "@svc/testkit/platforms/provider-a-web/camera";
import { PERSON, startWebPlatform, type WebPlatform } from "@svc/testkit/platforms/provider-a-web/server";
import { mountSmallDisk, NO_SMALL_DISK } from "@svc/testkit/real/small-disk";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { until } from "./fixture.ts";

const SIZE_MB = 32;

function start(home: string, platform: WebPlatform): Promise<RunningBinary> {
  const config = `
[channels_config.provider_a]
session_path = "whatsapp"
allowed_numbers = ["${PERSON}"]
api_url = "${platform.url}"
web_root_key = "${platform.rootKey}"
`;
  writeFileSync(join(home, "config.toml"), config, { mode: 0o600 });
  return startBinary({ home, binary: fullestBinaryPath() });
}

const answersTo = (platform: WebPlatform, question: string): number =>
  platform.seen.filter(({ by, text }) => by === PERSON && text.includes(question)).length;

const isSound = ({ broken, retries, violations }: WebPlatform): void =>
  expect({ broken, retries, violations }).toEqual({ broken: [], retries: 0, violations: [] });

async function link(platform: WebPlatform, daemon: RunningBinary, token: string): Promise<void> {
  const step = async (name: string): Promise<{ stage: string; qr?: string[] }> =>
    (await (await daemon.request("/api/provider-a-web/link", { token, body: { step: name } })).json()) as never;
  let state = await step("begin");
  await until(async () => (state = await step("state")).stage === "scan", "a code is shown");
  platform.scan(codeIn(state.qr!));
  await until(async () => (state = await step("state")).stage === "done", "the account is linked");
  await until(() => platform.isConnected, "the linked device connects");
}

test("linked again after a log-out, the conversation goes on; no key of the device can be read anywhere", async () => {
  await using platform = await startWebPlatform();
  using home = temporaryHome();
  await using daemon = await start(home.path, platform);
  const token = await daemon.pair();
  await link(platform, daemon, token);
  await platform.write({ from: PERSON, text: "question 1." });
  await until(() => answersTo(platform, "question 1.") === 1, "it answers");

  platform.logOut();
  const channels = async (): Promise<string> => (await daemon.request("/api/channels", { token })).text();
  await until(async () => (await channels()).includes("svc channels link provider_a"), "the log-out is told");
  await link(platform, daemon, token);
  await platform.write({ from: PERSON, text: "question 2." });
  await until(() => answersTo(platform, "question 2.") === 1, "it answers after it was linked again");
  const { sessions } = (await (await daemon.request("/api/sessions", { token })).json()) as { sessions: object[] };
  expect(sessions.length).toBe(1);
  isSound(platform);
  demandNoKeys(platform, home.path, daemon.output());
});

function demandNoKeys(platform: WebPlatform, home: string, output: string): void {
  const forms = platform.deviceKeys.flatMap((key) => [
    key.toString("base64"),
    key.toString("hex"),
    key.toString("latin1"),
  ]);
  const files = readdirSync(home, { recursive: true, encoding: "utf8" })
    .map((name) => join(home, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
  expect(files.length).toBeGreaterThan(3);
  const texts = [output, ...files.map((path) => readFileSync(path, "latin1"))];
  for (const form of forms) expect(texts.some((text) => text.includes(form))).toBe(false);
}

test("on a full disk what can't be kept is not confirmed, over a kill too; with room again each is answered once", async (context) => {
  using disk = mountSmallDisk(SIZE_MB);
  if (!disk) requireReal(context, NO_SMALL_DISK);
  await using platform = await startWebPlatform();
  let daemon = await start(disk.path, platform);
  try {
    await link(platform, daemon, await daemon.pair());
    await platform.write({ from: PERSON, text: "question 0." });
    await until(() => answersTo(platform, "question 0.") === 1 && platform.unconfirmed === 0, "it answers");

    disk.fill();
    const questions = Array.from({ length: 8 }, (_, at) => `question ${at + 1}.`);
    for (const text of questions) await platform.write({ from: PERSON, text });
    await daemon.waitFor(/loop failed.*disk is full/i);
    // Those before it may have found room that the database had.
    expect(platform.unconfirmed).toBeGreaterThan(0);
    const { logins } = platform;
    await until(() => platform.logins > logins, "it tries again");
    await daemon.kill9();
    daemon = await start(disk.path, platform);
    await daemon.waitFor(/loop failed.*disk is full/i);
    expect(platform.unconfirmed).toBeGreaterThan(0);

    disk.empty();
    const isAnswered = (text: string): boolean => answersTo(platform, text) > 0;
    await until(() => questions.every(isAnswered) && platform.unconfirmed === 0, "each is answered, with room again");
    expect(questions.filter((text) => answersTo(platform, text) !== 1)).toEqual([]);
    isSound(platform);
  } finally {
    await daemon.close();
  }
});
