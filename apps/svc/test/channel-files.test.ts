// Files as a way out of the workspace: links that lead to our own network, names that lead elsewhere, a folder that is a link,
// bodies without an end; and answers that name what nobody may have.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import { type FakePlatform, startPlatform } from "@svc/testkit/platforms/base";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { type PlatformsFixture, startPlatforms } from "./platforms-fixture.ts";

const lastAsked = ({ body }: ModelRequest): string =>
  (body["messages"] as { content: string }[]).at(-1)!.content as string;

/** What the model is asked about a message with this file. */
async function askedOf(fixture: PlatformsFixture, url: string, filename?: string): Promise<string> {
  const { requests, arrived } = fixture.model!;
  const before = requests.length;
  const part = { type: "media", url, mime_type: "image/png", ...(filename !== undefined && { filename }) };
  expect((await fixture.post("provider_b", fixture.from.b({ parts: [part] }))).status).toBe(200);
  return lastAsked(await arrived(before));
}

/** A server in the public, as far as the guard goes. */
async function fileServer(): Promise<FakePlatform> {
  return startPlatform(({ path }) => {
    if (path === "/to-metadata") return { status: 302, headers: { location: "http://169.254.169.254/latest" } };
    if (path === "/home") return { status: 302, headers: { location: "http://127.0.0.1:1/" } };
    return (response) => {
      const megabyte = Buffer.alloc(1_048_576, 7);
      const go = (): void => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on("drain", go);
      go();
    };
  });
}

test("no link leads to our own network, nor does a body without an end stay here", async () => {
  await using server = await fileServer();
  const more = `[security.net]\nallow_private = ["${new URL(server.url).host}"]\n`;
  await using fixture = await startPlatforms({ more, script: () => ({ text: "ok" }) });
  for (const url of [
    "http://169.254.169.254/latest/meta-data/",
    "http://localhost/",
    "http://2130706433/",
    "http://[::ffff:127.0.0.1]/",
    "file:///etc/passwd",
    `${fixture.daemon.url}/health`,
    `${server.url}/to-metadata`,
    `${server.url}/home`,
    `${server.url}/endless`,
  ]) {
    expect([url, await askedOf(fixture, url)]).toEqual([url, "hello\n[IMAGE: could not be fetched]"]);
  }
  const left = readdirSync(join(fixture.home, "workspace"), { recursive: true, withFileTypes: true });
  expect(left.filter((entry) => entry.isFile())).toEqual([]);
});

test("whatever a file is called, it lies below media in the workspace, or nowhere", async () => {
  await using fixture = await startPlatforms({ script: () => ({ text: "ok" }) });
  const url = fixture.b.host(Buffer.from("picture"), "image/png");
  for (const name of ["../../x", ".ssh", "..", "/etc/passwd", "a\u0000b\n\u001b[31m", "C:\\x\\y.exe", "-rf", "~root"]) {
    expect(await askedOf(fixture, url, name)).toMatch(
      /^hello\n\[IMAGE:media\/\d{4}-\d\d-\d\d\/\d+-[A-Za-z0-9][\w-]*\.\w+\]$/,
    );
  }
  using outside = temporaryHome();
  const media = join(fixture.home, "workspace", "media");
  for (const target of [outside.path, join(fixture.home, "state")]) {
    rmSync(media, { recursive: true, force: true });
    symlinkSync(target, media);
    expect(await askedOf(fixture, url)).toBe("hello\n[IMAGE: could not be fetched]");
  }
  expect(readdirSync(outside.path)).toEqual([]);
  expect(readdirSync(join(fixture.home, "state")).filter((name) => !name.startsWith("svc.db"))).toEqual([]);
});

test("what a killed fetch had of a file is gone after the next start, and the file is there whole", async () => {
  let asked = 0;
  await using server = await startPlatform(() => {
    asked += 1;
    if (asked > 1) return { headers: { "content-type": "image/png" }, bytes: Buffer.from("picture") };
    return (response) => void response.writeHead(200, { "content-type": "image/png" }).write("pic");
  });
  const more = `[security.net]\nallow_private = ["${new URL(server.url).host}"]\n`;
  await using fixture = await startPlatforms({ more, script: () => ({ text: "ok" }) });
  const media = join(fixture.home, "workspace", "media");
  const files = (): string[] =>
    existsSync(media)
      ? readdirSync(media, { recursive: true, withFileTypes: true }).flatMap((entry) =>
          entry.isFile() ? entry.name : [],
        )
      : [];
  const part = { type: "media", url: `${server.url}/a.png`, mime_type: "image/png" };
  await fixture.post("provider_b", fixture.from.b({ parts: [part] }));
  // The file is made before it is asked for: killed in between, the next start would be the first to ask.
  await server.arrived(0);
  expect(await eventually(files, ({ length }) => length > 0)).toEqual([expect.stringMatching(/^\.svc-.*\.tmp$/)]);
  await fixture.daemon.kill9();
  writeFileSync(join(media, ".svc-0123456789abcdef.tmp"), "mine");
  await fixture.start();
  await eventually(files, (names) => names.includes("1-image.png"));
  expect(files().toSorted()).toEqual([".svc-0123456789abcdef.tmp", "1-image.png"]);
});

test("an answer sends no file but those of the workspace, and says so", async () => {
  const lines = [
    "../../etc/passwd",
    "link.txt",
    "own.txt",
    "../config.toml",
    "/etc/passwd",
    "dir",
    "/dev/zero",
    "ok.txt",
  ];
  const text = lines.map((path) => `[DOCUMENT:${path}]`).join("\n");
  await using fixture = await startPlatforms({ script: [{ text }] });
  const workspace = join(fixture.home, "workspace");
  writeFileSync(join(workspace, "ok.txt"), "fine");
  symlinkSync("/etc/passwd", join(workspace, "link.txt"));
  symlinkSync(join(fixture.home, "config.toml"), join(workspace, "own.txt"));
  mkdirSync(join(workspace, "dir"));
  await fixture.post("provider_a", fixture.from.a());
  await eventually(
    () => fixture.a.sent.length,
    (count) => count >= 2,
  );
  const [words, file] = fixture.a.sent;
  expect(words!.text.split("\n")).toEqual(
    lines.slice(0, -1).map((path) => expect.stringMatching(new RegExp(`^\\[DOCUMENT:${path}\\] \\(not sent: `))),
  );
  expect(Buffer.from(file!.file!.bytes).toString()).toBe("fine");
  expect(fixture.a.sent).toHaveLength(2);
});
