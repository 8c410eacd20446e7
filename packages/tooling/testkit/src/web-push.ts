/** A browser's half of Web Push, and a push service over TLS that keeps what it is sent. */
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { selfSigned } from "./self-signed.ts";

export interface BrowserKeys {
  readonly p256dh: Buffer;
  readonly auth: Buffer;
  readonly privateKey: Buffer;
}

export function makeBrowserKeys(): BrowserKeys {
  const own = createECDH("prime256v1");
  return { p256dh: own.generateKeys(), auth: randomBytes(16), privateKey: own.getPrivateKey() };
}

/** As `PushSubscription.toJSON()`. */
export const subscriptionOf = ({ p256dh, auth }: BrowserKeys, endpoint = "https://push.example/send/1") => ({
  endpoint,
  expirationTime: null,
  keys: { p256dh: p256dh.toString("base64url"), auth: auth.toString("base64url") },
});

/** Throws where a browser would drop the message. */
export function decryptPush(body: Uint8Array, { p256dh, auth, privateKey }: BrowserKeys): string {
  const bytes = Buffer.from(body);
  const salt = bytes.subarray(0, 16);
  const idLength = bytes.readUInt8(20);
  const sender = bytes.subarray(21, 21 + idLength);
  const record = bytes.subarray(21 + idLength);
  const own = createECDH("prime256v1");
  own.setPrivateKey(privateKey);
  const derived = (secret: Uint8Array, with_: Uint8Array, info: Uint8Array, length: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, with_, info, length));
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), p256dh, sender]);
  const secret = derived(own.computeSecret(sender), auth, info, 32);
  const key = derived(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derived(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const opening = createDecipheriv("aes-128-gcm", key, nonce);
  opening.setAuthTag(record.subarray(-16));
  const plain = Buffer.concat([opening.update(record.subarray(0, -16)), opening.final()]);
  if (plain.at(-1) !== 2) throw new Error("the last record ends with another delimiter");
  return plain.subarray(0, -1).toString();
}

export interface PushServer extends AsyncDisposable {
  /** `https://localhost:<port>` */
  readonly url: string;
  readonly port: number;
  /** Its certificate, PEM: the sender must trust it. */
  readonly cert: string;
  readonly pushed: {
    readonly path: string;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly body: Buffer;
  }[];
  /** Of the answers from now on. Default: 201. */
  status: number;
}

export async function startPushServer(): Promise<PushServer> {
  const { key, cert } = selfSigned("localhost");
  const server = createServer({ key, cert }, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      pushes.pushed.push({ path: incoming.url ?? "", headers: incoming.headers, body: Buffer.concat(chunks) });
      response.writeHead(pushes.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const pushes: PushServer = {
    url: `https://localhost:${port}`,
    port,
    cert,
    pushed: [],
    status: 201,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return pushes;
}
