// Files in svc chat: attached at the terminal and by an option, with a daemon and without one; what is refused, and what is left over.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { homeWith, localModel } from "./daemon.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** The last that the model was asked. */
const asked = ({ requests }: FakeModelServer): string =>
  JSON.stringify((requests.at(-1)!.body["messages"] as unknown[]).at(-1));

test.each([false, true])(
  "--attach sends files with a message (daemon: %s); the transcript names them",
  async (hasDaemon) => {
    await using model = await fakeModelServer({ script: [{ text: "a cat" }, { text: "no more" }] });
    using home = homeWith(localModel(model));
    using desk = temporaryHome();
    writeFileSync(join(desk.path, "my cat.png"), PNG);
    await using daemon = hasDaemon ? await startBinary({ home: home.path }) : undefined;
    const svc = (...args: string[]) => runBinary(args, { home: home.path });
    const said = await svc("chat", "-m", "what is it?", "--attach", join(desk.path, "my cat.png"));
    expect([said.code, said.stdout.trim()]).toEqual([0, "a cat"]);
    const [, path] = /\[IMAGE:(media\/[^\]]+-my-cat\.png)\]/.exec(asked(model)) ?? [];
    expect(readFileSync(join(home.path, "workspace", path!))).toEqual(PNG);
    expect(readdirSync(join(home.path, "state", "uploads"))).toEqual([]);
    const { sessions } = JSON.parse((await svc("sessions", "list", "--json")).stdout) as { sessions: { id: string }[] };
    expect((await svc("sessions", "show", sessions[0]!.id)).stdout).toContain(
      "[IMAGE my cat.png, image/png, 16 B]\nwhat is it?",
    );
    expect((await svc("sessions", "export", sessions[0]!.id)).stdout).toContain(
      "File: my cat.png (image/png, 16 bytes)",
    );
    expect(daemon?.output() ?? "").not.toContain("INTERNAL");
  },
);

test("a file of many chunks arrives whole", async () => {
  await using model = await fakeModelServer({ script: [{ text: "a large one" }] });
  using home = homeWith(localModel(model));
  using desk = temporaryHome();
  const large = Buffer.concat(Array.from({ length: 9 }, () => randomBytes(1_048_576)));
  writeFileSync(join(desk.path, "large.bin"), large);
  const said = await runBinary(["chat", "-m", "keep it", "--attach", join(desk.path, "large.bin")], {
    home: home.path,
  });
  expect([said.code, said.stdout.trim()]).toEqual([0, "a large one"]);
  const [, path] = /(media\/[^\]" ]+-large\.bin)/.exec(asked(model)) ?? [];
  expect(readFileSync(join(home.path, "workspace", path!)).equals(large)).toBe(true);
});

test("what is no file, too large or empty is refused with a code, and leaves nothing", async () => {
  await using model = await fakeModelServer({ script: [] });
  using home = homeWith(localModel(model));
  writeFileSync(join(home.path, "huge"), Buffer.alloc(25 * 1_048_576 + 1));
  writeFileSync(join(home.path, "empty"), "");
  for (const [path, code] of [
    [home.path, 64],
    [join(home.path, "nowhere"), 64],
    ["/dev/zero", 64],
    [join(home.path, "huge"), 65],
    [join(home.path, "empty"), 65],
  ] as const) {
    const refused = await runBinary(["chat", "-m", "x", "--attach", path], { home: home.path });
    expect([path, refused.code, refused.stdout]).toEqual([path, code, ""]);
  }
  expect(model.requests).toEqual([]);
  expect(readdirSync(join(home.path, "state", "uploads"))).toEqual([]);
});

test("/attach adds files to the next message alone, and tells what is attached", async (context) => {
  needScript(context);
  await using model = await fakeModelServer({ script: [{ text: "the first answer" }, { text: "the second answer" }] });
  using home = homeWith(localModel(model));
  writeFileSync(join(home.path, "a b.png"), PNG);
  const { screen } = await atTerminal(home.path, "chat", [
    ["> ", "/attach\n"],
    ["adds a file to the next message.", `/attach ${join(home.path, "nowhere")}\n`],
    ["USAGE", `/attach "${join(home.path, "a b.png")}"\n`],
    ["Goes with the next message.", "look\n"],
    ["the first answer", "and again\n"],
    ["the second answer", "\x04"],
  ]);
  expect(screen).toContain("[IMAGE a b.png, image/png, 16 B]");
  const questions = model.requests.map(({ body }) => JSON.stringify((body["messages"] as unknown[]).at(-1)));
  expect(questions.map((question) => question.includes("[IMAGE:media/"))).toEqual([true, false]);
});
