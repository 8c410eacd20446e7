/** The account's other device: an app on matrix-js-sdk, at which its owner is logged in. */
import type { VerificationState } from "@svc/contract";
import { createClient, type MatrixClient } from "matrix-js-sdk";
import { type ShowSasCallbacks, type VerificationRequest, VerifierEvent } from "matrix-js-sdk/lib/crypto-api/index.js";
import { type Connected, eventually, never } from "./fixture.ts";

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

/** What the other device's camera makes of the code. */
export const scanned = (state: VerificationState): Promise<Uint8ClampedArray> =>
  read(state.stage === "scan" ? state.qr : []);

/** `rows`: `1` for dark modules, `0` for light ones. */
export async function read(rows: readonly string[]): Promise<Uint8ClampedArray> {
  const [margin, scale] = [4, 4];
  const size = (rows.length + 2 * margin) * scale;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const isDark = rows[Math.floor(y / scale) - margin]?.[Math.floor(x / scale) - margin] === "1";
      if (isDark) pixels.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
    }
  }
  const { default: jsQr } = await import("jsqr");
  const found = (jsQr as unknown as typeof jsQr.default)(pixels, size, size);
  if (found === null) throw new Error("no camera can read this code");
  return Uint8ClampedArray.from(found.binaryData);
}

export const symbolsOf = (state: VerificationState): string[] =>
  state.stage === "compare" ? state.symbols.map(({ symbol }) => symbol) : [];
