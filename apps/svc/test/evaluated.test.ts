// A channel or hardware that nobody configured costs nothing: neither its code nor its client library is evaluated. The libraries of the
// everyday channels are megabytes, and would be in the memory of everybody.
import { readEvaluated, evaluatedInto } from "@svc/testkit/binary/evaluated";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

/** By feature, what its section needs, and a library that it alone has. Nobody listens on port 9. */
const CHANNELS = {
  "channel-telegram": {
    section: 'telegram]\nbot_token = "1:token"\napi_url = "http://127.0.0.1:9"',
    library: "grammy",
  },
  "channel-discord": {
    section: 'discord]\nbot_token = "token"\napi_url = "http://127.0.0.1:9"',
    library: "@discordjs/ws",
  },
  "channel-slack": {
    section: 'slack]\nbot_token = "xoxb-1"\napp_token = "xapp-1"\napi_url = "http://127.0.0.1:9"',
    library: "@slack/web-api",
  },
  "channel-email": {
    section:
      'email]\naddress = "a@example.org"\npassword = "pw"\nimap_host = "127.0.0.1"\nimap_port = 9\nsmtp_host = "127.0.0.1"\nsmtp_port = 9',
    library: "imapflow",
  },
} as const;

/** What a daemon with this config evaluated, from its start to its end. */
async function evaluated(config: string, binary = binaryPath()) {
  using home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), config);
  const folder = join(home.path, "evaluated");
  mkdirSync(folder);
  const daemon = await startBinary({ home: home.path, binary, env: evaluatedInto(folder) });
  await daemon.request("/health");
  await daemon.stop();
  return readEvaluated(folder, binary);
}

test("svc --version evaluates no chunk", async () => {
  using home = temporaryHome();
  const folder = join(home.path, "evaluated");
  mkdirSync(folder);
  const { stdout } = await runBinary(["--version"], { home: home.path, env: evaluatedInto(folder) });
  expect(stdout).toMatch(/^svc \d+\.\d+\.\d+ \(.+\)\n$/);
  expect(() => readEvaluated(folder)).toThrow("no list of what it evaluated");
  expect(readdirSync(folder)).toHaveLength(1);
});

describe("what a start evaluates", () => {
  test("no channel is configured: nothing of any channel, and no client library", async () => {
    const { features, packages } = await evaluated("");
    expect([...features].filter((id) => id.startsWith("channel-"))).toEqual([]);
    for (const { library } of Object.values(CHANNELS)) expect(packages).not.toContain(library);
    for (const library of ["undici", "nodemailer", "mailparser"]) expect(packages).not.toContain(library);
  });

  test.each(Object.entries(CHANNELS))("%s: its own library, and no other's", async (id, { section, library }) => {
    const { features, packages } = await evaluated(`[channels_config.${section}\n`);
    expect([...features].filter((feature) => feature.startsWith("channel-"))).toEqual([id]);
    const others = Object.values(CHANNELS).map((channel) => channel.library);
    expect(others.filter((name) => packages.has(name))).toEqual([library]);
  });

  test("hardware and triggers: nothing without their sections, and nothing of MQTT and native code before it is needed", async () => {
    const parts = [
      "hardware-aardvark",
      "hardware-boards",
      "hardware-gpio",
      "probe",
      "trigger-mqtt",
      "trigger-peripheral",
    ];
    const libraries = ["@serialport/bindings-cpp", "mqtt"];
    const none = await evaluated("", fullestBinaryPath());
    expect(parts.filter((id) => none.features.has(id))).toEqual([]);
    expect(libraries.filter((name) => none.packages.has(name))).toEqual([]);
    const some = await evaluated("[hardware]\n", fullestBinaryPath());
    expect(parts.filter((id) => some.features.has(id))).toEqual(parts.slice(0, 4));
    expect(libraries.filter((name) => some.packages.has(name))).toEqual([]);
  });
});
