/** Callbacks as the platform posts them: encrypted and signed with the app's Encrypt Key. */
import { createCipheriv, hash, randomBytes } from "node:crypto";
import type { Json, SampleDelivery } from "@svc/contract";

export const workchatSealed = (body: Uint8Array, encryptKey: string, iv: Uint8Array = randomBytes(16)): Buffer => {
  const cipher = createCipheriv("aes-256-cbc", hash("sha256", encryptKey, "buffer"), iv);
  const sealed = Buffer.concat([iv, cipher.update(body), cipher.final()]).toString("base64");
  return Buffer.from(JSON.stringify({ encrypt: sealed }));
};

/** Signs exactly these bytes. `nonce`: default, one that goes with the body. */
export function workchatSigned(body: Uint8Array, encryptKey: string, atMs: number, nonce?: string): SampleDelivery {
  const timestamp = String(Math.floor(atMs / 1000));
  const own = nonce ?? hash("sha256", body, "hex").slice(0, 16);
  const signature = hash("sha256", Buffer.concat([Buffer.from(timestamp + own + encryptKey), body]), "hex");
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json; charset=utf-8",
      "x-lark-request-timestamp": timestamp,
      "x-lark-request-nonce": own,
      "x-lark-signature": signature,
    },
    body,
  };
}

/** `seed`: the same delivery each time for the same one. */
export const workchatDelivery = (payload: Json, encryptKey: string, atMs: number): SampleDelivery => {
  const plain = Buffer.from(JSON.stringify(payload));
  return workchatSigned(
    workchatSealed(plain, encryptKey, hash("sha256", plain, "buffer").subarray(0, 16)),
    encryptKey,
    atMs,
  );
};

/** Of an app without an Encrypt Key. */
export const workchatPlain = (payload: Json): SampleDelivery => ({
  method: "POST",
  query: "",
  headers: { "content-type": "application/json; charset=utf-8" },
  body: Buffer.from(JSON.stringify(payload)),
});
