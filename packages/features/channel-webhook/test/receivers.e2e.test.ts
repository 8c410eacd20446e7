// The receivers of the channel's page, run as they stand there: what we post they take and show once, whatever the key looks
// like; what somebody else made up, or recorded long ago, they refuse.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { message, never, open, SECRET } from "./open-webhook.ts";

const page = readFileSync(new URL("../../../../docs/channels/webhook.md", import.meta.url), "utf8");

const LANGUAGES = {
  js: { file: "receiver.mjs", program: process.execPath },
  python: { file: "receiver.py", program: "python3" },
};

describe.each(["js", "python"] as const)("the receiver in %s", (language) => {
  test("takes what we post, once, and nothing else", async (context) => {
    const { program } = LANGUAGES[language];
    if (!runs(program)) requireReal(context, { name: program, reason: `${program} is not on PATH` });
    for (const secret of [SECRET, "a passphrase — schlüssel"]) {
      await using receiver = await start(language, secret);
      const { channel, context: surroundings } = open({ url: receiver.url, url_secret: secret }, { nowMs: Date.now() });
      const hello = message({ text: 'Grüße, "quoted" \u{1F44B}' });
      await channel.send(hello, never);
      await channel.send(hello, never);
      const conversation = { channel: "webhook", id: "operations", thread: "t-7" };
      await channel.send(message({ text: "second", deliveryId: "another", conversation }), never);
      expect([await receiver.line(), await receiver.line()].map((line) => JSON.parse(line) as unknown)).toEqual([
        { content: hello.text, conversation: "operations", thread_id: null },
        { content: "second", conversation: "operations", thread_id: "t-7" },
      ]);

      const refused = { code: "CHANNEL_UNAUTHORIZED" };
      const forger = open({ url: receiver.url, url_secret: `${secret}BBBB` }, { nowMs: Date.now() });
      await expect(forger.channel.send(hello, never)).rejects.toMatchObject(refused);
      await expect(open({ url: receiver.url }).channel.send(hello, never)).rejects.toMatchObject(refused);
      surroundings.clock.setWallClock(Date.now() - 301_000);
      await expect(channel.send(message({ deliveryId: "recorded" }), never)).rejects.toMatchObject(refused);
    }
  });
});

async function start(language: keyof typeof LANGUAGES, secret: string) {
  const { file, program } = LANGUAGES[language];
  const [, code = ""] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(page) ?? [];
  const home = temporaryHome();
  writeFileSync(join(home.path, file), code);
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: "0" };
  const child = spawn(program, [file], { cwd: home.path, env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => ((await lines.next()) as { value: string }).value;
  const [, port] = /^listening on (\d+)$/.exec(await line()) ?? [];
  return {
    url: `http://127.0.0.1:${port}/hooks/agent`,
    line,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      home[Symbol.dispose]();
    },
  };
}

function runs(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
