// Verification with matrix-js-sdk: by emoji and by QR code, between devices and in a room, asked for by either side, and refused.
import { BOT, type MatrixPlatform, PERSON, startMatrix, STRANGER } from "@svc/testkit/platforms/matrix/server";
import type { MatrixClient } from "matrix-js-sdk";
import type { Json, RouteRequest } from "@svc/contract";
import { CryptoEvent, VerificationPhase, type VerificationRequest } from "matrix-js-sdk/lib/crypto-api/index.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, eventually, never, sectionFor } from "./fixture.ts";
import { compared, scanned, startPhone, symbolsOf, until } from "./phone.ts";

let platform: MatrixPlatform;
const clients: MatrixClient[] = [];
beforeEach(async () => {
  platform = await startMatrix({ encrypted: true });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.stopClient();
  await platform.close();
});

async function phone(): Promise<MatrixClient> {
  const client = await startPhone(platform.url, platform.world.addDevice(BOT, "PHONE"));
  clients.push(client);
  return client;
}

test("asks the account's other device, and both are verified once both say that the symbols are the same", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const client = await phone();
  const asked = new Promise<VerificationRequest>((resolve) =>
    client.on(CryptoEvent.VerificationRequestReceived, resolve),
  );
  // It drops what an unknown device asks for.
  await client.getCrypto()!.getUserDeviceInfo([BOT], true);
  expect(await svc.channel.verification!.begin(never)).toMatchObject({ stage: "waiting" });
  const request = await asked;
  await request.accept();
  await svc.channel.verification!.state(never);
  await until(svc, "scan");
  await svc.channel.verification!.compare(never);
  const showing = compared(request);
  const state = await until(svc, "compare");
  const sas = await showing;
  expect(symbolsOf(state)).toEqual(sas.sas.emoji!.map(([symbol]) => symbol));
  expect(symbolsOf(state)).toHaveLength(7);
  await sas.confirm();
  await svc.channel.verification!.answer(true, never);
  expect(await until(svc, "done")).toMatchObject({ peer: expect.stringContaining("PHONE") });
  await eventually(
    async () => (await client.getCrypto()!.getDeviceVerificationStatus(BOT, platform.deviceId))!.localVerified,
  );
});

test("takes up a request of the other device; symbols that differ end it", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const client = await phone();
  await client.getCrypto()!.getUserDeviceInfo([BOT], true);
  const request = await client.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  // Taken by the channel's sync.
  await eventually(() => platform.world.accounts.get(BOT)!.devices.get(platform.deviceId)!.toDevice.length === 0);
  expect(await svc.channel.verification!.requests(never)).toEqual([`${BOT}, device PHONE`]);
  await svc.channel.verification!.begin(never);
  expect(await svc.channel.verification!.requests(never)).toEqual([]);
  await until(svc, "scan");
  await svc.channel.verification!.compare(never);
  await eventually(async () => {
    await svc.channel.verification!.state(never);
    return request.verifier !== undefined;
  });
  const showing = compared(request);
  await until(svc, "compare");
  await showing;
  expect(await svc.channel.verification!.answer(false, never)).toMatchObject({ stage: "cancelled" });
  await eventually(() => request.cancellationCode === "m.mismatched_sas");
  expect((await client.getCrypto()!.getDeviceVerificationStatus(BOT, platform.deviceId))!.localVerified).toBe(false);
});

test("shows a QR code that the other device scans, and both are verified once the operator confirms", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const client = await phone();
  await client.getCrypto()!.getUserDeviceInfo([BOT], true);
  const request = await client.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
  await svc.channel.verification!.begin(never);
  const shown = await until(svc, "scan");
  // Asked again, it is the same code: each has a secret of its own.
  expect(await svc.channel.verification!.state(never)).toEqual(shown);
  expect(await svc.channel.verification!.begin(never)).toEqual(shown);
  await eventually(() => request.phase === VerificationPhase.Ready);
  const verifier = await request.scanQRCode(await scanned(shown));
  const verified = verifier.verify();
  await until(svc, "scanned");
  await svc.channel.verification!.answer(true, never);
  await verified;
  expect(await until(svc, "done")).toMatchObject({ peer: `${BOT}, device PHONE` });
});

test("a code that the operator does not confirm verifies no device", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const client = await phone();
  await client.getCrypto()!.getUserDeviceInfo([BOT], true);
  const request = await client.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
  await svc.channel.verification!.begin(never);
  const shown = await until(svc, "scan");
  await eventually(() => request.phase === VerificationPhase.Ready);
  const verifier = await request.scanQRCode(await scanned(shown));
  void verifier.verify().catch(() => undefined);
  await until(svc, "scanned");
  expect(await svc.channel.verification!.answer(false, never)).toMatchObject({ stage: "cancelled" });
  await eventually(() => request.cancellationCode === "m.key_mismatch");
});

test("takes up a request that a person makes in the room, in clear text as its app writes it", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const ada = await startPhone(platform.url, platform.world.addDevice(PERSON, "ADAPHONE"));
  clients.push(ada);
  await ada
    .getCrypto()!
    .bootstrapCrossSigning({ authUploadDeviceSigningKeys: async (make) => void (await make(null)) });
  await ada.getCrypto()!.userHasCrossSigningKeys(BOT, true);
  const request = await ada.getCrypto()!.requestVerificationDM(BOT, platform.room);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
  expect(await svc.channel.verification!.requests(never)).toEqual([`${PERSON}, device ADAPHONE`]);
  await svc.channel.verification!.begin(never);
  await until(svc, "scan");
  await svc.channel.verification!.compare(never);
  const showing = compared(request);
  const state = await until(svc, "compare");
  const sas = await showing;
  expect(symbolsOf(state)).toEqual(sas.sas.emoji!.map(([symbol]) => symbol));
  await sas.confirm();
  await svc.channel.verification!.answer(true, never);
  await until(svc, "done");
  await eventually(async () => (await ada.getCrypto()!.getUserVerificationStatus(BOT)).isCrossSigningVerified());
  // None of it reaches the agent.
  expect(svc.received).toEqual([]);
});

test("a comparison that is begun without a request is offered for allowed people's devices alone", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const ada = await startPhone(platform.url, platform.world.addDevice(PERSON, "ADAPHONE"));
  const eve = await startPhone(platform.url, platform.world.addDevice(STRANGER, "EVEPHONE"));
  clients.push(ada, eve);
  const bot = platform.world.accounts.get(BOT)!.devices.get(platform.deviceId)!;
  const start = (sender: string, from: string, id: string, more: object = {}) =>
    platform.world.sendToDevice(bot, {
      type: "m.key.verification.start",
      sender,
      content: {
        from_device: from,
        transaction_id: id,
        method: "m.sas.v1",
        key_agreement_protocols: ["curve25519-hkdf-sha256"],
        hashes: ["sha256"],
        message_authentication_codes: ["hkdf-hmac-sha256.v2"],
        short_authentication_string: ["emoji", "decimal"],
        ...more,
      },
    });
  start(STRANGER, "EVEPHONE", "1");
  start(PERSON, "NOSUCHDEVICE", "2");
  start(PERSON, "ADAPHONE", "3", { transaction_id: 7 });
  start(PERSON, "ADAPHONE", "4", { method: "m.unknown" });
  start(PERSON, "ADAPHONE", "5", { hashes: "sha256" });
  for (let at = 0; at < 300; at += 1) start(PERSON, "NOSUCHDEVICE", `crowd${at}`);
  start(PERSON, "ADAPHONE", "good");
  await eventually(async () => (await svc.channel.verification!.requests(never)).length > 0);
  expect(await svc.channel.verification!.requests(never)).toEqual([`${PERSON}, device ADAPHONE`]);
  await svc.channel.verification!.begin(never);
  expect(await svc.channel.verification!.requests(never)).toEqual([]);
  expect(await svc.channel.verification!.state(never)).toMatchObject({ stage: "waiting" });
});

test("a crowd that asks in rooms hides nobody, and the account's own device goes first", async () => {
  await using svc = await connect(sectionFor(platform, { allowed_users: ["*"] }));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const request = (from: string) => ({
    msgtype: "m.key.verification.request",
    body: "verify",
    to: BOT,
    from_device: "DEVICE",
    methods: ["m.sas.v1"],
    ...(from === PERSON && { from_device: "ADAPHONE" }),
  });
  const ada = await startPhone(platform.url, platform.world.addDevice(PERSON, "ADAPHONE"));
  clients.push(ada);
  for (let at = 0; at < 101; at += 1) {
    const from = `@crowd${at}:hs.test`;
    platform.write({ from, text: "", content: request(from) });
  }
  platform.write({ from: PERSON, text: "", content: request(PERSON) });
  await eventually(async () => (await svc.channel.verification!.requests(never)).length > 0);
  expect(await svc.channel.verification!.requests(never)).toEqual([`${PERSON}, device ADAPHONE`]);
  const client = await phone();
  await client.getCrypto()!.getUserDeviceInfo([BOT], true);
  await client.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 2);
  expect(await svc.channel.verification!.begin(never)).toMatchObject({ peer: `${BOT}, device PHONE` });
});

test("the dashboard's route takes the same steps, for operators alone", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const routes = svc.routes.filter(({ path }) => path === "/api/federated/verification");
  expect(routes.map(({ method, access }) => [method, access])).toEqual([
    ["GET", "operate"],
    ["POST", "operate"],
  ]);
  const ask = async (at: number, body: Json): Promise<unknown> =>
    (await routes[at]!.handle({ body, signal: never } as RouteRequest)).body;
  expect(await ask(0, null)).toEqual({ requests: [] });
  await expect(ask(1, { step: "state" })).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
  const client = await phone();
  await client.getCrypto()!.getUserDeviceInfo([BOT], true);
  await client.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
  expect(await ask(0, null)).toEqual({ requests: [`${BOT}, device PHONE`] });
  expect(await ask(1, { step: "begin" })).toMatchObject({ peer: `${BOT}, device PHONE` });
  const scan = await until(svc, "scan");
  expect(await ask(1, { step: "state" })).toEqual(scan);
  await expect(ask(1, { step: "answer", matches: true })).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
});

test("nothing is compared before a verification is under way", async () => {
  await using svc = await connect(sectionFor(platform));
  await expect(svc.channel.verification!.state(never)).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
});
