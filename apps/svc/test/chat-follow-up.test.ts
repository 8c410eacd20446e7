// A turn that failed at the terminal is taken up as with the page's buttons: asked again without typing it, or gone on with.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";

const config = (url: string): string => `[model]
provider = "openai-compatible"
name = "local"
base_url = "${url}"
api_key = "sk-planted-Zx81Qw7Lm204"
`;

test("/retry asks the last message again, /continue wants the rest; neither is a message of its own", async () => {
  let isDown = true;
  const asked: string[] = [];
  const model = await fakeModelServer({
    script({ body }) {
      const last = JSON.stringify((body["messages"] as readonly unknown[]).at(-1));
      asked.push(last);
      if (isDown) return { status: 401 };
      if (last.includes("exactly where it broke off")) return { text: " and the second half." };
      return last.includes("a poem") ? { fault: "drop-midway", text: "The first half of it" } : { text: "It is noon." };
    },
  });
  using home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), config(model.url), { mode: 0o600 });
  await using _ = await startBinary({ home: home.path });
  const say = (text: string) => runBinary(["chat", "-m", text], { home: home.path });

  const nothing = await say("/retry");
  expect([nothing.code !== 0, nothing.stderr]).toEqual([true, expect.stringContaining("TURN_UNKNOWN")]);
  expect(asked).toEqual([]);

  expect((await say("What time is it?")).code).not.toBe(0);
  isDown = false;
  const again = await say(" /Retry ");
  expect([again.code, again.stdout.trim()]).toEqual([0, "It is noon."]);
  expect(asked.at(-1)).toContain("What time is it?");

  const done = await say("/continue");
  expect([done.code !== 0, done.stderr]).toEqual([true, expect.stringContaining("TURN_STATE")]);

  expect((await say("Write a poem.")).code).not.toBe(0);
  const rest = await say("/continue");
  expect([rest.code, rest.stdout]).toEqual([0, expect.stringContaining("the second half.")]);

  const file = await runBinary(["sessions", "export", await newest(home.path), "--format", "json"], {
    home: home.path,
  });
  const { messages } = JSON.parse(file.stdout) as { messages: { role: string; text: string; replaced?: boolean }[] };
  const said = messages.filter(({ role, replaced }) => role === "user" && replaced !== true).map(({ text }) => text);
  expect(said.filter((text) => text === "What time is it?")).toHaveLength(1);
  expect(said.join()).not.toMatch(/\/(?:retry|continue)/i);
  await model.close();
});

async function newest(home: string): Promise<string> {
  const { stdout } = await runBinary(["sessions", "list", "--json"], { home });
  return (JSON.parse(stdout) as { sessions: { id: string }[] }).sessions[0]!.id;
}
