// A feature of two sections on the whole binary: what one part does depends on the other's section, and follows its changes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { WORKCHAT_APP } from "@svc/testkit/platforms/workchat/events";
import { startWorkchat } from "@svc/testkit/platforms/workchat/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";

const APP_SECRET = "app-secret-of-both-sections";

test("an app that both sections name is the dedicated section's, and the other's once that is off", async () => {
  using home = temporaryHome();
  const binary = fullestBinaryPath();
  await using platform = await startWorkchat({ appSecret: APP_SECRET });
  const section = (name: string, more = ""): string => `[channels_config.${name}]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "${APP_SECRET}"
allowed_users = ["*"]
api_url = "${platform.url}"
${more}`;
  const config = `${section("workchat", "use_feishu = true\n")}\n${section("workchat_cn")}`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  const daemon = await startBinary({ home: home.path, binary });
  try {
    const svc = (...args: readonly string[]) => runBinary(args, { home: home.path, binary });
    const channels = async (): Promise<string[]> => {
      const { stdout } = await svc("channels", "list", "--json");
      return (JSON.parse(stdout) as { channels: { id: string }[] }).channels.map(({ id }) => id);
    };
    expect(await channels()).toEqual(["workchat_cn"]);
    expect(daemon.output()).toContain("channels_config.workchat_cn has the same app");
    await platform.socket.opened(1);
    expect((await svc("config", "set", "channels_config.workchat_cn.enabled", "false")).code).toBe(0);
    expect((await svc("reload")).code).toBe(0);
    expect(await channels()).toEqual(["workchat"]);
    await platform.socket.opened(2);
    expect((await svc("channels", "test", "workchat_cn")).code).not.toBe(0);
  } finally {
    await daemon.close();
  }
});
