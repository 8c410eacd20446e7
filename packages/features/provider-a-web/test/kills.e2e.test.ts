// The whole binary, killed and cut off at any moment: each message is answered once, and no chat breaks. After a log-out the account is
// linked again, and its conversations go on.
import { cases } from "@svc/cases";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "./fixture.ts";
import { PERSON, startWebPlatform, type WebPlatform } from "./server/server.ts";
import { codeIn } from "./camera.ts";

const MESSAGES = 200;
const KILLS = 10;
const DISCONNECTS = 5;

test("200 messages, 10 kills, 5 disconnects: each is answered once; linked again, the conversation goes on", async () => {
  await using platform = await startWebPlatform();
  using home = temporaryHome();
  const config = `
[channels_config.provider_a]
session_path = "whatsapp"
allowed_numbers = ["${PERSON}"]
api_url = "${platform.url}"
web_root_key = "${platform.rootKey}"
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  const start = (): Promise<RunningBinary> => startBinary({ home: home.path, binary: fullestBinaryPath() });
  let daemon = await start();
  try {
    const outputs: string[] = [];
    const token = await daemon.pair();
    await link(platform, daemon, token);

    const share = MESSAGES / cases(MESSAGES);
    const [messages, kills, disconnects] = [MESSAGES / share, KILLS / share, Math.ceil(DISCONNECTS / share)];
    const killAfter = new Set(Array.from({ length: kills }, (_, at) => Math.floor(((at + 0.5) * messages) / kills)));
    const cutAfter = new Set(
      Array.from({ length: disconnects }, (_, at) => Math.floor(((at + 1) * messages) / (disconnects + 1))),
    );
    for (let number = 1; number <= messages; number += 1) {
      await platform.write({ from: PERSON, text: `question ${number}.` });
      // Somewhere between the message that came and its answer, which is another place each time.
      if (killAfter.has(number) || cutAfter.has(number))
        await new Promise((resolve) => setTimeout(resolve, (number * 37) % 90));
      if (cutAfter.has(number)) platform.disconnect();
      if (killAfter.has(number)) {
        outputs.push(daemon.output());
        await daemon.kill9();
        daemon = await start();
      }
    }
    const answersTo = (number: number) =>
      answers(platform).filter((text) => text.includes(`question ${number}.`)).length;
    const numbers = Array.from({ length: messages }, (_, at) => at + 1);
    await until(() => numbers.every((number) => answersTo(number) > 0), "every message is answered").catch(
      (error: unknown) => {
        throw new Error(
          `unanswered: ${numbers.filter((number) => answersTo(number) === 0).join()}; ${daemon.output().slice(-3000)}`,
          { cause: error },
        );
      },
    );
    expect(numbers.filter((number) => answersTo(number) !== 1)).toEqual([]);
    expect({ broken: platform.broken, retries: platform.retries, violations: platform.violations }).toEqual({
      broken: [],
      retries: 0,
      violations: [],
    });

    platform.logOut();
    const troubled = async (): Promise<string> =>
      JSON.stringify(await (await daemon.request("/api/channels", { token })).json());
    await until(async () => (await troubled()).includes("svc channels link provider_a"), "the log-out is told");
    await link(platform, daemon, token);
    await platform.write({ from: PERSON, text: "question 1000." });
    await until(() => answersTo(1000) === 1, "it answers after it was linked again");
    const sessions = (await (await daemon.request("/api/sessions", { token })).json()) as {
      sessions: { channel?: string }[];
    };
    expect(sessions.sessions.length).toBe(1);
    expect(platform.broken).toEqual([]);
    outputs.push(daemon.output());
    demandNoKeys(platform, home.path, outputs);
  } finally {
    await daemon.close();
  }
});

const answers = (platform: WebPlatform): string[] =>
  platform.seen.filter(({ by }) => by === PERSON).map(({ text }) => text);

async function link(platform: WebPlatform, daemon: RunningBinary, token: string): Promise<void> {
  const step = async (name: string): Promise<{ stage: string; qr?: string[] }> =>
    (await (await daemon.request("/api/provider-a-web/link", { token, body: { step: name } })).json()) as never;
  let state = await step("begin");
  await until(async () => (state = await step("state")).stage === "scan", "a code is shown");
  platform.scan(codeIn(state.qr!));
  await until(async () => (state = await step("state")).stage === "done", "the account is linked");
  const { logins } = platform;
  await until(() => platform.logins > logins || platform.isConnected, "the linked device connects");
}

/** The keys of the linked device are nowhere as they are: not in a file of the home, not in what the daemon prints. */
function demandNoKeys(platform: WebPlatform, home: string, outputs: readonly string[]): void {
  const forms = platform.deviceKeys.flatMap((key) => [
    key.toString("base64"),
    key.toString("hex"),
    key.toString("latin1"),
  ]);
  const files = readdirSync(home, { recursive: true, encoding: "utf8" })
    .map((name) => join(home, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
  expect(files.length).toBeGreaterThan(3);
  const texts = [...outputs, ...files.map((path) => readFileSync(path, "latin1"))];
  for (const form of forms) expect(texts.some((text) => text.includes(form))).toBe(false);
}
