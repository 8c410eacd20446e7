/** The account's other device: an app on matrix-js-sdk, at which its owner is logged in. */
import type { VerificationState } from "@svc/contract";
import { createClient, type MatrixClient } from "matrix-js-sdk";
import { type ShowSasCallbacks, type VerificationRequest, VerifierEvent } from "matrix-js-sdk/lib/crypto-api/index.js";
import { type Connected, eventually, never } from "./house.ts";

export async function startPhone(
  baseUrl: string,
  device: { readonly userId: string; readonly deviceId: string; readonly token: string },
): Promise<MatrixClient> {
  const { userId, deviceId, token } = device;
  const client = createClient({ baseUrl, userId, deviceId, accessToken: token });
  await client.initRustCrypto({ useIndexedDB: false });
  await client.startClient({ initialSyncLimit: 10 });
  await eventually(() => client.isInitialSyncComplete());
  return client;
}

/** What the app shows once both sides are ready. */
export async function compared(request: VerificationRequest): Promise<ShowSasCallbacks> {
  await eventually(() => request.verifier !== undefined);
  const verifier = request.verifier!;
  const shown = new Promise<ShowSasCallbacks>((resolve) => verifier.on(VerifierEvent.ShowSas, resolve));
  void verifier.verify().catch(() => undefined);
  return shown;
}

export async function until(svc: Connected, stage: VerificationState["stage"]): Promise<VerificationState> {
  let state = await svc.channel.verification!.state(never);
  await eventually(async () => {
    state = await svc.channel.verification!.state(never);
    return state.stage === stage;
  });
  return state;
}

export const symbolsOf = (state: VerificationState): string[] =>
  state.stage === "compare" ? state.symbols.map(({ symbol }) => symbol) : [];
