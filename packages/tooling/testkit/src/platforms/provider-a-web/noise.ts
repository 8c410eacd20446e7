/**
 * The server's side of the handshake: Noise_XX_25519_AESGCM_SHA256 with a certificate chain of its own. As strict as the platform:
 * a header, a frame or a tag that is wrong ends the connection.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { Curve, type KeyPair, proto } from "baileys";

const HEADER = Buffer.from([87, 65, 6, 3]);
const NAME = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0");
const TAG_BYTES = 16;

/** The server's keys: the root signs the intermediate certificate, that one the leaf, and the leaf is the static key. */
export interface ServerKeys {
  readonly root: KeyPair;
  readonly intermediate: KeyPair;
  readonly fixed: KeyPair;
}

export const serverKeys = (): ServerKeys => ({
  root: Curve.generateKeyPair(),
  intermediate: Curve.generateKeyPair(),
  fixed: Curve.generateKeyPair(),
});

function certificates({ root, intermediate, fixed }: ServerKeys): Uint8Array {
  const { Details } = proto.CertChain.NoiseCertificate;
  const signed = (details: Uint8Array, key: KeyPair) => ({
    details,
    signature: Curve.sign(key.private, Buffer.from(details)),
  });
  const middle = Details.encode({ serial: 7, issuerSerial: 0, key: intermediate.public }).finish();
  const leaf = Details.encode({ serial: 8, issuerSerial: 7, key: fixed.public }).finish();
  return proto.CertChain.encode({ intermediate: signed(middle, root), leaf: signed(leaf, intermediate) }).finish();
}

const nonce = (counter: number): Buffer => {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
};

function seal(key: Uint8Array, counter: number, plain: Uint8Array, data: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce(counter)).setAAD(data);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function unseal(key: Uint8Array, counter: number, sealed: Uint8Array, data: Uint8Array): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce(counter)).setAAD(data);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
}

export const framed = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([bytes.length >> 16, (bytes.length >> 8) & 255, bytes.length & 255]), bytes]);

export interface NoiseServer {
  /** Bytes from the client. Calls back with what comes out of them. Throws for what breaks the protocol. */
  take(bytes: Uint8Array): void;
  /** A frame of the transport phase. */
  frame(plain: Uint8Array): Buffer;
}

export interface NoiseCallbacks {
  readonly send: (bytes: Buffer) => void;
  readonly onHello: (payload: proto.ClientPayload, clientKey: Buffer) => void;
  readonly onFrame: (plain: Buffer) => void;
}

export function noiseServer(keys: ServerKeys, { send, onHello, onFrame }: NoiseCallbacks): NoiseServer {
  let [hash, chain, key] = [NAME, NAME, NAME];
  let counter = 0;
  let buffer = Buffer.alloc(0);
  let phase: "header" | "hello" | "finish" | "transport" = "header";
  const ephemeral = Curve.generateKeyPair();
  let read = { key: Buffer.alloc(0), counter: 0 };
  let write = { key: Buffer.alloc(0), counter: 0 };

  const mixHash = (data: Uint8Array): void => void (hash = createHash("sha256").update(hash).update(data).digest());
  const mixKey = (secret: Uint8Array): void => {
    const both = Buffer.from(hkdfSync("sha256", secret, chain, "", 64));
    [chain, key, counter] = [both.subarray(0, 32), both.subarray(32), 0];
  };
  const encrypt = (plain: Uint8Array): Buffer => {
    const sealed = seal(key, counter, plain, hash);
    counter += 1;
    mixHash(sealed);
    return sealed;
  };
  const decrypt = (sealed: Uint8Array): Buffer => {
    const plain = unseal(key, counter, sealed, hash);
    counter += 1;
    mixHash(sealed);
    return plain;
  };

  const hello = (frame: Buffer): void => {
    const client = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral;
    if (client?.byteLength !== 32) throw new Error("the hello has no ephemeral key");
    mixHash(HEADER);
    mixHash(client);
    mixHash(ephemeral.public);
    mixKey(Curve.sharedKey(ephemeral.private, client));
    const fixed = encrypt(keys.fixed.public);
    mixKey(Curve.sharedKey(keys.fixed.private, client));
    const payload = encrypt(certificates(keys));
    const answer = { serverHello: { ephemeral: ephemeral.public, static: fixed, payload } };
    send(framed(proto.HandshakeMessage.encode(answer).finish()));
    phase = "finish";
  };
  const finish = (frame: Buffer): void => {
    const { static: sealedKey, payload } = proto.HandshakeMessage.decode(frame).clientFinish ?? {};
    if (!sealedKey || !payload) throw new Error("the handshake is not finished");
    const clientKey = decrypt(sealedKey);
    mixKey(Curve.sharedKey(ephemeral.private, clientKey));
    const hello = proto.ClientPayload.decode(decrypt(payload));
    const both = Buffer.from(hkdfSync("sha256", Buffer.alloc(0), chain, "", 64));
    read = { key: both.subarray(0, 32), counter: 0 };
    write = { key: both.subarray(32), counter: 0 };
    phase = "transport";
    onHello(hello, clientKey);
  };

  return {
    take(bytes) {
      buffer = Buffer.concat([buffer, bytes]);
      if (phase === "header") {
        if (buffer.length < HEADER.length) return;
        if (!buffer.subarray(0, HEADER.length).equals(HEADER)) throw new Error("the header is not the platform's");
        buffer = buffer.subarray(HEADER.length);
        phase = "hello";
      }
      while (buffer.length >= 3) {
        const length = buffer.readUIntBE(0, 3);
        if (buffer.length < length + 3) return;
        const frame = buffer.subarray(3, length + 3);
        buffer = buffer.subarray(length + 3);
        if (phase === "hello") hello(frame);
        else if (phase === "finish") finish(frame);
        else {
          const plain = unseal(read.key, read.counter, frame, Buffer.alloc(0));
          read.counter += 1;
          onFrame(plain);
        }
      }
    },
    frame(plain) {
      const sealed = seal(write.key, write.counter, plain, Buffer.alloc(0));
      write.counter += 1;
      return framed(sealed);
    },
  };
}
