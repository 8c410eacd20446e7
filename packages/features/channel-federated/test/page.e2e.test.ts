// Verification from the dashboard: the built binary, a real browser, and matrix-js-sdk as the account's other device.
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { BOT, type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import type { MatrixClient } from "matrix-js-sdk";
import { CryptoEvent, VerificationPhase, type VerificationRequest } from "matrix-js-sdk/lib/crypto-api/index.js";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "./fixture.ts";
import { compared, read, startPhone } from "./phone.ts";

const CHROMIUM = "/usr/bin/chromium";

interface Fixture {
  readonly browser: Browser;
  readonly platform: MatrixPlatform;
  readonly daemon: RunningBinary;
  readonly token: string;
  readonly phone: MatrixClient;
}

let fixture: Fixture;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  if (!existsSync(CHROMIUM)) return;
  const home = stack.use(temporaryHome());
  const platform = stack.adopt(await startMatrix({ encrypted: true }), (one) => one.close());
  const config = `
[channels_config.federated]
homeserver = "${platform.url}"
access_token = "${platform.token}"
user_id = "${BOT}"
allowed_users = ["${PERSON}"]
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  const daemon = stack.use(await startBinary({ home: home.path, binary: fullestBinaryPath() }));
  const token = await daemon.pair();
  const bot = platform.world.accounts.get(BOT)!;
  await eventually(() => bot.crossSigning.size > 0 && bot.devices.get(platform.deviceId)!.keys !== undefined);
  const phone = stack.adopt(await startPhone(platform.url, platform.world.addDevice(BOT, "PHONE")), (one) =>
    one.stopClient(),
  );
  const browser = stack.use(
    await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-quic"] }),
  );
  fixture = { browser, platform, daemon, token, phone };
});

beforeEach((context) => {
  if (!existsSync(CHROMIUM)) {
    requireReal(context, { name: "chromium", reason: `no ${CHROMIUM}; apt-get install chromium` });
  }
});

afterAll(() => stack.disposeAsync());

async function signedIn(token: string): Promise<Page> {
  const context = await fixture.browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(fixture.daemon.url);
  await page.getByText("Use a token instead").click();
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Chats" }).first().waitFor();
  await page.goto(`${fixture.daemon.url}#/overview`);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  return page;
}

/** As it is drawn. */
async function drawnCode(page: Page): Promise<string[]> {
  const code = page.getByRole("img", { name: "QR code of the verification" });
  const size = Number((await code.getAttribute("viewBox"))!.split(" ")[3]);
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => "0"));
  for (const [, x, y] of (await code.locator("path").getAttribute("d"))!.matchAll(/M(\d+) (\d+)h/g)) {
    rows[Number(y)]![Number(x)] = "1";
  }
  return rows.map((row) => row.join(""));
}

test("a request of another device is offered, its code is shown, and both are verified", async () => {
  const { phone, platform, token } = fixture;
  const page = await signedIn(token);
  await phone.getCrypto()!.getUserDeviceInfo([BOT], true);
  const request = await phone.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  await page.getByText(`${BOT}, device PHONE asks to verify this device.`).waitFor();
  await page.getByRole("button", { name: "Verify the device" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Accept" }).click();
  await dialog.getByText("Scan this code with").waitFor();
  await eventually(() => request.phase === VerificationPhase.Ready);
  const verifier = await request.scanQRCode(await read(await drawnCode(page)));
  const verified = verifier.verify();
  await dialog.getByText("has scanned the code").waitFor();
  await dialog.getByRole("button", { name: "It says so" }).click();
  await verified;
  await dialog.getByText("Verified with").waitFor();
  const status = await phone.getCrypto()!.getDeviceVerificationStatus(BOT, platform.deviceId);
  expect(status?.crossSigningVerified).toBe(true);
  await page.context().close();
});

test("asks the other device, shows the symbols that it shows, and ends when they differ", async () => {
  const { phone, token } = fixture;
  const page = await signedIn(token);
  const asked = new Promise<VerificationRequest>((resolve) =>
    phone.once(CryptoEvent.VerificationRequestReceived, resolve),
  );
  await page.getByRole("button", { name: "Verify the device" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Ask the other device" }).click();
  const request = await asked;
  await request.accept();
  await dialog.getByRole("button", { name: "Compare symbols instead" }).click();
  const { sas } = await compared(request);
  await dialog.getByText("show the same symbols").waitFor();
  const names = await dialog.locator("ol.symbols li").allInnerTexts();
  expect(names.map((text) => text.trim().split(/\s+/)[0])).toEqual(sas.emoji!.map(([symbol]) => symbol));
  await dialog.getByRole("button", { name: "They differ" }).click();
  await dialog.getByText("Not verified").waitFor();
  await eventually(() => request.cancellationCode === "m.mismatched_sas");
  await page.context().close();
});

test("is for operators alone", async () => {
  const { daemon, token } = fixture;
  const made = await daemon.request("/api/pairing-codes", { token, body: { scope: "read", name: "reader" } });
  const { code } = (await made.json()) as { code: string };
  const reader = await daemon.pair(code);
  for (const method of ["GET", "POST"]) {
    const body = method === "POST" ? { body: { step: "begin" } } : {};
    const refused = await daemon.request("/api/federated/verification", { method, token: reader, ...body });
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, "FORBIDDEN_SCOPE"]);
  }
  const wrong = await daemon.request("/api/federated/verification", { token, body: { step: "answer" } });
  expect(wrong.status).toBe(400);
  const page = await signedIn(reader);
  await page.getByRole("table", { name: "Channels" }).getByText("federated").waitFor();
  expect(await page.getByRole("button", { name: "Verify the device" }).count()).toBe(0);
  await page.context().close();
});
