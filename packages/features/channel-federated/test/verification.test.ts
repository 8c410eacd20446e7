// Verification by emoji with matrix-js-sdk, asked for by either side, and refused.
import { BOT, type MatrixPlatform, startMatrix } from "@svc/testkit/platforms/matrix/server";
import type { MatrixClient } from "matrix-js-sdk";
import { CryptoEvent, type VerificationRequest } from "matrix-js-sdk/lib/crypto-api/index.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, eventually, never, sectionFor } from "./house.ts";
import { compared, startPhone, symbolsOf, until } from "./phone.ts";

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
  expect(await svc.channel.verification!.begin(never)).toMatchObject({ stage: "waiting" });
  const request = await asked;
  await request.accept();
  await svc.channel.verification!.state(never);
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
  await svc.channel.verification!.begin(never);
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

test("nothing is compared before a verification is under way", async () => {
  await using svc = await connect(sectionFor(platform));
  await expect(svc.channel.verification!.state(never)).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
});
