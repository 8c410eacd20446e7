// A message whose key comes late, on the whole binary: shown as what it is, silent in the room, and answered once, over kills.
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { BOT, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { type MatrixClient, MatrixEventEvent } from "matrix-js-sdk";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "./fixture.ts";
import { startPhone } from "./phone.ts";

const CHROMIUM = "/usr/bin/chromium";

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const platform = stack.adopt(await startMatrix({ encrypted: true }), (one) => one.close());
  const model = stack.use(
    await fakeModelServer({
      script: ({ body }) => {
        const last = JSON.stringify((body["messages"] as unknown[]).at(-1));
        return { text: `Answer to ${/question \w+/.exec(last)?.[0] ?? "something else"}` };
      },
    }),
  );
  const config = `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"
api_key = "key-of-the-model"

[channels_config.federated]
homeserver = "${platform.url}"
access_token = "${platform.token}"
user_id = "${BOT}"
allowed_users = ["${PERSON}"]
stream_mode = "off"
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  const ada: MatrixClient = stack.adopt(
    await startPhone(platform.url, platform.world.addDevice(PERSON, "ADAPHONE")),
    (one) => one.stopClient(),
  );
  const answers: string[] = [];
  ada.on(MatrixEventEvent.Decrypted, (event) => {
    if (event.getSender() === BOT && !event.isDecryptionFailure()) answers.push(String(event.getContent()["body"]));
  });
  let daemon: RunningBinary | undefined;
  stack.defer(() => daemon?.close());
  const kept = stack.move();

  const { world } = platform;
  const send = world.sendToDevice.bind(world);
  const withheld: (() => void)[] = [];
  /** Syncs of the bot that were asked for. */
  const syncs = () =>
    platform.requests.filter(
      ({ path, headers }) => path.endsWith("/sync") && headers["authorization"] === `Bearer ${platform.token}`,
    ).length;
  return {
    home: home.path,
    answers,
    ada,
    room: platform.room,
    daemon: () => daemon!,
    async begin(): Promise<void> {
      const before = syncs();
      daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
      // The second is asked for once the first was dealt with.
      await eventually(() => syncs() >= before + 2);
    },
    syncs,
    /** Keys for the bot go nowhere until they are delivered. */
    withhold(): void {
      world.sendToDevice = (device, event) => {
        if (device.userId === BOT && event["type"] === "m.room.encrypted") withheld.push(() => send(device, event));
        else send(device, event);
      };
    },
    deliver(): void {
      world.sendToDevice = send;
      for (const deliver of withheld.splice(0)) deliver();
    },
    said: () =>
      world.rooms.get(platform.room)!.events.filter(({ sender, type }) => sender === BOT && type.startsWith("m.room.e"))
        .length,
    inbox: async () => (await runBinary(["inbox", "list"], { home: home.path, binary: fullestBinaryPath() })).stdout,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

let world: Awaited<ReturnType<typeof openWorld>>;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

test("waits through kills and is answered once when its key comes, which a kill follows at once", async () => {
  await world.begin();
  world.withhold();
  await world.ada.sendTextMessage(world.room, "question one");
  await eventually(async () => /^in-1 .*federated.*waiting for keys/m.test(await world.inbox()));
  const shown = await runBinary(["inbox", "show", "in-1"], { home: world.home, binary: fullestBinaryPath() });
  expect(shown.stdout).toContain("in-1: locked of federated, waiting for keys");
  await world.daemon().kill9();
  await world.begin();
  expect(await world.inbox()).toMatch(/^in-1 .*waiting for keys/m);
  expect(world.said()).toBe(0);
  // Its key reaches a process that is killed at another instant each time, until one lives long enough.
  world.deliver();
  for (const afterMs of [0, 5, 20, 60]) {
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await world.daemon().kill9();
    await world.begin();
  }
  await world.ada.sendTextMessage(world.room, "question two");
  await eventually(() => world.answers.includes("Answer to question two"));
  expect(world.answers.toSorted()).toEqual(["Answer to question one", "Answer to question two"]);
  const list = await world.inbox();
  expect(list).toMatch(/^in-1 .* done .*question one/m);
  expect(list).not.toContain("waiting for keys");
});

test("is dropped for good by a person who drops it", async () => {
  await world.begin();
  world.withhold();
  await world.ada.sendTextMessage(world.room, "question one");
  await eventually(async () => (await world.inbox()).includes("waiting for keys"));
  const at = { home: world.home, binary: fullestBinaryPath() };
  expect((await runBinary(["inbox", "drop", "in-1", "--yes"], at)).code).toBe(0);
  world.deliver();
  await world.ada.sendTextMessage(world.room, "question two");
  await eventually(() => world.answers.includes("Answer to question two"));
  expect(world.answers).toEqual(["Answer to question two"]);
  const again = await runBinary(["inbox", "replay", "in-1"], at);
  expect([again.code, again.stderr]).toEqual([64, expect.stringContaining("its keys have not come")]);
});

test("the page shows what it waits for", async (context) => {
  if (!existsSync(CHROMIUM)) {
    requireReal(context, { name: "chromium", reason: `no ${CHROMIUM}; apt-get install chromium` });
  }
  await world.begin();
  world.withhold();
  await world.ada.sendTextMessage(world.room, "question one");
  await eventually(async () => (await world.inbox()).includes("waiting for keys"));
  await using browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
  });
  const page = await browser.newPage();
  await page.goto(world.daemon().url);
  await page.getByText("Use a token instead").click();
  await page.getByLabel("Token").fill(await world.daemon().pair());
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Chats" }).first().waitFor();
  await page.goto(`${world.daemon().url}#/inbox`);
  const row = page.getByRole("table", { name: "Messages" }).getByRole("row").filter({ hasText: "in-1" });
  await row.getByText("waiting for keys").waitFor();
  await row.getByRole("link", { name: "in-1" }).click();
  await page.getByRole("heading", { name: "Message in-1" }).waitFor();
  // The heading is there before the message has been read.
  const badge = page.getByText("waiting for keys");
  await badge.waitFor();
  expect(await badge.count()).toBe(1);
});
