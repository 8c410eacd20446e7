// Somebody who follows a channel's page to the letter must end with a config that is taken: no command of it refused, no key
// of it unknown, nothing missing at its end.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";

const PAGES = new URL("../../../docs/channels/", import.meta.url);

const CHANNELS = readdirSync(PAGES).map((file) => file.replace(/\.md$/, ""));

/** Channels whose feature or section is not called after the page. */
const NAMED: Readonly<Record<string, { readonly feature: string; readonly section: string }>> = {
  "provider-a-web": { feature: "provider-a-web", section: "provider_a" },
  "voice-wake": { feature: "voice-wake", section: "voice_wake" },
};

/** For pages whose secret has a form. */
const TYPED: Readonly<Record<string, string>> = { relaynet: "1".repeat(64) };

test.each(CHANNELS)("%s", async (page) => {
  using home = temporaryHome();
  const where = { home: home.path, binary: fullestBinaryPath() };
  const file = join(home.path, "config.toml");
  writeFileSync(file, "", { mode: 0o600 });
  const named = NAMED[page] ?? { feature: `channel-${page}`, section: page.replace("-", "_") };
  const section = `[channels_config.${named.section}]`;
  const blocks = blocksOf(readFileSync(new URL(`${page}.md`, PAGES), "utf8"));
  const writesByCommand = blocks.some(({ text }) => text.includes("svc config set"));

  for (const { language, text } of blocks) {
    // A page that sets all by commands shows the file as it is after them.
    if (language === "toml" && !writesByCommand)
      writeFileSync(file, withKeys(readFileSync(file, "utf8"), section, text));
    for (const [, command = ""] of language === "sh" ? text.matchAll(/^ *svc ((?:secrets|config) set .+)$/gm) : []) {
      const { code, stderr } = await runBinary(command.split(" "), {
        ...where,
        input: `${TYPED[page] ?? "a-secret-of-the-page"}\n`,
      });
      expect([command, code, stderr]).toEqual([command, 0, ""]);
    }
  }
  expect(await runBinary(["config", "check"], where)).toMatchObject({ code: 0 });
  const { stdout } = await runBinary(["channels", "list", "--json"], where);
  const { channels } = JSON.parse(stdout) as { channels: { signed: boolean | null }[] };
  expect(channels).toMatchObject([{ feature: named.feature }]);
  // Null: nobody calls it.
  expect(channels[0]?.signed).not.toBe(false);
});

const blocksOf = (page: string): { language: string; text: string }[] =>
  Array.from(page.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms), ([, language = "", text = ""]) => ({ language, text }));

/** As a person adds them: below the section's name, which is there once. */
function withKeys(config: string, section: string, block: string): string {
  const keys = block.replaceAll(/^ +/gm, "").replace(section, "").trim();
  const file = config.includes(section) ? config : `${config}\n${section}\n`;
  return file.replace(section, `${section}\n${keys}`);
}
