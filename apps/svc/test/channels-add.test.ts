// A channel is added to a config that is there, again and again, without an editor: comments stay, secrets are no arguments, and what
// would not work is not written.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startTelegram, TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import { expect, onTestFinished, test } from "vitest";
import { homeWith, startPaired } from "./daemon.ts";

function open(toml = "# mine\n[gateway]\nport = 0 # any\n") {
  const home = homeWith(toml);
  onTestFinished(() => home[Symbol.dispose]());
  return {
    path: home.path,
    svc: (args: readonly string[], input = "") => runBinary(["channels", "add", ...args], { home: home.path, input }),
    text: () => readFileSync(join(home.path, "config.toml"), "utf8"),
  };
}

test("a channel comes into a running service, and its keys are changed by adding it again", async () => {
  await using platform = await startTelegram();
  const fixture = open();
  const { daemon } = await startPaired({ home: fixture.path });
  await using _daemon = daemon;
  const rest = ["--set", "allowed_users=*", "--set", `api_url=${platform.apiUrl}`, "--secret-file", "bot_token=-"];
  const added = await fixture.svc(["telegram", ...rest], TELEGRAM_TOKEN);
  expect([added.code, added.stderr]).toEqual([0, ""]);
  expect(added.stdout).toContain("added [channels_config.telegram]");
  await expect.poll(() => platform.isPolled).toBe(true);
  expect(fixture.text()).toMatch(/^# mine\n\[gateway\]\nport = 0 # any\n/);
  expect(fixture.text()).not.toContain(TELEGRAM_TOKEN);
  expect((await fixture.svc(["telegram", "--set", "allowed_users=1,2"])).code).toBe(0);
  expect(fixture.text()).toContain('allowed_users = ["1", "2"]');
  const before = fixture.text();
  const wrong = await fixture.svc(["telegram", "--set", "mode=pigeon"]);
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("channels_config.telegram.mode");
  expect(fixture.text()).toBe(before);
});

test("a channel is found by the name that its users have for it; a secret is no argument; a missing key is told", async () => {
  const fixture = open();
  const alias = await fixture.svc(["imap"]);
  expect(alias.stderr).toContain("channels_config.email");
  const secret = await fixture.svc(["telegram", "--set", "bot_token=1:x"]);
  expect(secret.stderr).toContain("--secret-file bot_token=-");
  const missing = await fixture.svc(["telegram", "--yes"]);
  expect(missing.stderr).toContain("channels_config.telegram.bot_token");
  const unknown = await fixture.svc(["pigeon"]);
  expect(unknown.stderr).toContain("Channels of this build:");
  expect(fixture.text()).toBe("# mine\n[gateway]\nport = 0 # any\n");
});
