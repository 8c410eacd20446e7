// `svc channels verify federated` at a real terminal, with matrix-js-sdk as the account's other device: what is on the screen is what the
// other device shows, and what is typed there decides.
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { BOT, type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import type { MatrixClient } from "matrix-js-sdk";
import { CryptoEvent, VerificationPhase, type VerificationRequest } from "matrix-js-sdk/lib/crypto-api/index.js";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "./fixture.ts";
import { compared, read, startPhone } from "./phone.ts";

const SCRIPT = "/usr/bin/script";
const stack = new AsyncDisposableStack();
let platform: MatrixPlatform;
let phone: MatrixClient;
let home: string;

beforeAll(async () => {
  if (!existsSync(SCRIPT)) return;
  home = stack.use(temporaryHome()).path;
  platform = stack.adopt(await startMatrix({ encrypted: true }), (one) => one.close());
  const config = `
[channels_config.federated]
homeserver = "${platform.url}"
access_token = "${platform.token}"
user_id = "${BOT}"
allowed_users = ["${PERSON}"]
`;
  writeFileSync(join(home, "config.toml"), config, { mode: 0o600 });
  stack.use(await startBinary({ home, binary: fullestBinaryPath() }));
  const bot = platform.world.accounts.get(BOT)!;
  await eventually(() => bot.crossSigning.size > 0 && bot.devices.get(platform.deviceId)!.keys !== undefined);
  phone = stack.adopt(await startPhone(platform.url, platform.world.addDevice(BOT, "PHONE")), (one) =>
    one.stopClient(),
  );
  // It drops what an unknown device asks for.
  await phone.getCrypto()!.getUserDeviceInfo([BOT], true);
});
beforeEach((context) => {
  if (!existsSync(SCRIPT)) {
    requireReal(context, { name: "script", reason: `no ${SCRIPT}; apt-get install bsdutils` });
  }
});
afterAll(() => stack.disposeAsync());

function atTerminal(words: string) {
  const child = spawn(SCRIPT, ["-qefc", `${fullestBinaryPath()} ${words}`, "/dev/null"], {
    env: { PATH: process.env["PATH"], SVC_HOME: home, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { screen: () => screen, type: (text: string) => void child.stdin.write(text), ended };
}

const requested = (): Promise<VerificationRequest> =>
  new Promise((resolve) => phone.once(CryptoEvent.VerificationRequestReceived, resolve));

/** The code as a camera sees it: half blocks, light ones drawn, with a margin of two. */
function drawnCode(screen: string): string[] {
  const lines = screen
    .replaceAll("\r", "")
    .split("\n")
    .filter((line) => /^ {2}[█▀▄ ]{20,}$/.test(line))
    .map((line) => Array.from(line.slice(2)));
  const width = lines[0]?.length ?? 0;
  const rows = lines.flatMap((line) => [
    line.map((block) => (block === "█" || block === "▀" ? "0" : "1")),
    line.map((block) => (block === "█" || block === "▄" ? "0" : "1")),
  ]);
  return rows.slice(2, width - 2).map((row) => row.slice(2, width - 2).join(""));
}

test.each([
  ["y", 0, "verified with"],
  ["n", 69, "m.mismatched_sas"],
])("shows the symbols that the other device shows; %s ends with %i", async (typed, code, last) => {
  const asked = requested();
  const terminal = atTerminal("channels verify federated --emoji");
  const request = await asked;
  await request.accept();
  const { sas, confirm } = await compared(request);
  await eventually(() => terminal.screen().includes("Does the other device show the same?"));
  const shown = terminal.screen().split("in this order:")[1]!;
  const names = sas.emoji!.map(([symbol]) => shown.indexOf(symbol));
  expect(names.every((at) => at >= 0)).toBe(true);
  expect(shown.match(/^ {2}\S+ {2}\S/gmu)).toHaveLength(7);
  if (typed === "y") await confirm();
  terminal.type(typed);
  expect(await terminal.ended).toBe(code);
  expect(terminal.screen()).toContain(last);
  expect(terminal.screen()).toContain(`${BOT}, device PHONE`);
});

test("draws a code that the other device scans, and asks what it says", async () => {
  const asked = requested();
  const terminal = atTerminal("channels verify federated");
  const request = await asked;
  await request.accept();
  await eventually(() => terminal.screen().includes("or choose emoji there"));
  await eventually(() => request.phase === VerificationPhase.Ready);
  const verifier = await request.scanQRCode(await read(drawnCode(terminal.screen())));
  const verified = verifier.verify();
  await eventually(() => terminal.screen().includes("say that the code is right?"));
  terminal.type("y");
  expect(await terminal.ended).toBe(0);
  await verified;
  expect(terminal.screen()).toContain(`verified with ${BOT}, device PHONE`);
});
