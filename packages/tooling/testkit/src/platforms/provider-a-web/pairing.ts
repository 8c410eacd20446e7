/** Linking a device: the owner's phone signs its identity, after it has scanned a code or was given one to type. */
import { randomBytes } from "node:crypto";
import { type BinaryNode, Curve, getBinaryNodeChild, hmacSign, proto, S_WHATSAPP_NET } from "baileys";
import { type LinkedDevice, userOf } from "./keys.ts";
import type { Phone } from "./phone.ts";

export interface Registering {
  registration: { noiseKey: Buffer; payload: proto.ClientPayload } | undefined;
  send(node: BinaryNode): void;
  close(): void;
}

export interface PairingDeps {
  readonly owner: Phone;
  readonly connections: () => Iterable<Registering>;
  /** The device that is linked from now on; undefined: none. */
  readonly linked: (device: LinkedDevice | undefined) => void;
  readonly now: () => string;
}

export function createPairing({ owner, connections, linked, now }: PairingDeps) {
  let nextDevice = 11;
  async function companion(
    connection: Registering,
    child: BinaryNode | undefined,
    answer: (content?: BinaryNode[]) => void,
  ): Promise<void> {
    if (child?.tag === "remove-companion-device") {
      linked(undefined);
      return answer();
    }
    if (child?.tag !== "link_code_companion_reg")
      throw new Error(`a query that the protocol does not have: md ${child?.tag}`);
    const bytes = (tag: string): Buffer => Buffer.from(getBinaryNodeChild(child, tag)?.content as Uint8Array);
    if (child.attrs["stage"] === "companion_hello") {
      if (userOf(child.attrs["jid"]!) !== userOf(owner.jid)) throw new Error("a code for another account");
      hellos.resolve({ connection, wrapped: bytes("link_code_pairing_wrapped_companion_ephemeral_pub") });
      const ref = { tag: "link_code_pairing_ref", attrs: {}, content: Buffer.from("ref-of-a-code") };
      return answer([{ tag: "link_code_companion_reg", attrs: {}, content: [ref] }]);
    }
    answer();
    finishes.resolve({ bundle: bytes("link_code_pairing_wrapped_key_bundle") });
  }
  const hellos = Promise.withResolvers<{ connection: Registering; wrapped: Buffer }>();
  const finishes = Promise.withResolvers<{ bundle: Buffer }>();

  /** The owner's phone signs the device's identity. */
  function pair(connection: Registering, advSecret: Buffer): void {
    const { payload } = connection.registration!;
    const identity = payload.devicePairingData!.eIdent!;
    const id = nextDevice;
    nextDevice += 1;
    const { signedIdentityKey } = owner.credentials;
    const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 1, keyIndex: id, deviceType: 0 }).finish();
    const accountSignature = Curve.sign(
      signedIdentityKey.private,
      Buffer.concat([Buffer.from([6, 0]), details, identity]),
    );
    const signed = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: signedIdentityKey.public,
      accountSignature,
    }).finish();
    const hmac = hmacSign(Buffer.from(signed), advSecret);
    const content = proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish();
    pendingDevice = { id, details };
    connection.send({
      tag: "iq",
      attrs: { from: S_WHATSAPP_NET, type: "set", id: "pair-2", t: now() },
      content: [
        {
          tag: "pair-success",
          attrs: {},
          content: [
            { tag: "device-identity", attrs: {}, content },
            {
              tag: "device",
              attrs: { jid: owner.jid.replace("@", `:${id}@`), lid: owner.lid.replace("@", `:${id}@`) },
            },
            { tag: "platform", attrs: { name: "android" } },
          ],
        },
      ],
    });
  }
  let pendingDevice: { id: number; details: Uint8Array } | undefined;

  /** The device has signed in its turn; from then on it logs in. */
  function paired(connection: Registering, node: BinaryNode): void {
    if (node.attrs["id"] !== "pair-2") return;
    const signedNode = getBinaryNodeChild(getBinaryNodeChild(node, "pair-device-sign"), "device-identity");
    const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(signedNode!.content as Uint8Array);
    const { noiseKey, payload } = connection.registration!;
    const { eIdent, eRegid, eSkeyId, eSkeyVal, eSkeySig } = payload.devicePairingData!;
    const { id, details } = pendingDevice!;
    const accountKey = owner.credentials.signedIdentityKey.public;
    const message = Buffer.concat([Buffer.from([6, 1]), details, eIdent!, accountKey]);
    if (!Curve.verify(eIdent!, message, deviceSignature!)) throw new Error("the device has not signed");
    linked({
      id,
      noiseKey,
      bundle: {
        registrationId: Buffer.from(eRegid!).readUInt32BE(0),
        identity: eIdent!,
        signedPreKey: { id: Buffer.from(eSkeyId!).readUIntBE(0, 3), key: eSkeyVal!, signature: eSkeySig! },
      },
      preKeys: new Map(),
      queue: [],
    });
    connection.send({ tag: "stream:error", attrs: { code: "515" } });
    connection.close();
  }

  return {
    companion,
    paired,
    scan(code: string) {
      const [, noiseKey = "", identity = "", advSecret = ""] = code.slice(code.indexOf("#") + 1).split(",");
      const connection = [...connections()].find(
        ({ registration }) => registration?.noiseKey.toString("base64") === noiseKey,
      );
      if (!connection) throw new Error("nobody shows this code");
      const shown = Buffer.from(connection.registration!.payload.devicePairingData!.eIdent!).toString("base64");
      if (shown !== identity) throw new Error("the code is of another identity");
      pair(connection, Buffer.from(advSecret, "base64"));
    },
    async type(code: string) {
      const { aesDecryptCTR, aesEncryptCTR, aesDecryptGCM, derivePairingCodeKey, hkdf } = await import("baileys");
      const plain = code.replace("-", "");
      const { connection, wrapped } = await hellos.promise;
      const key = await derivePairingCodeKey(plain, wrapped.subarray(0, 32));
      const companionKey = aesDecryptCTR(wrapped.subarray(48), key, wrapped.subarray(32, 48));
      const primary = Curve.generateKeyPair();
      const [salt, iv] = [randomBytes(32), randomBytes(16)];
      const own = await derivePairingCodeKey(plain, salt);
      const sealed = Buffer.concat([salt, iv, aesEncryptCTR(primary.public, own, iv)]);
      const part = (tag: string, content: Uint8Array) => ({ tag, attrs: {}, content });
      connection.send({
        tag: "notification",
        attrs: { from: S_WHATSAPP_NET, type: "link_code_companion_reg", id: "link-1", t: now() },
        content: [
          {
            tag: "link_code_companion_reg",
            attrs: { stage: "primary_hello" },
            content: [
              part("link_code_pairing_ref", Buffer.from("ref-of-a-code")),
              part("primary_identity_pub", owner.credentials.signedIdentityKey.public),
              part("link_code_pairing_wrapped_primary_ephemeral_pub", sealed),
            ],
          },
        ],
      });
      const { bundle } = await finishes.promise;
      const shared = Curve.sharedKey(primary.private, companionKey);
      const bundleKey = hkdf(shared, 32, {
        salt: bundle.subarray(0, 32),
        info: "link_code_pairing_key_bundle_encryption_key",
      });
      const opened = aesDecryptGCM(bundle.subarray(44), bundleKey, bundle.subarray(32, 44), Buffer.alloc(0));
      const identity = opened.subarray(0, 32);
      const identityShared = Curve.sharedKey(owner.credentials.signedIdentityKey.private, identity);
      const secret = hkdf(Buffer.concat([shared, identityShared, opened.subarray(64)]), 32, { info: "adv_secret" });
      pair(connection, Buffer.from(secret));
    },

    async adopt() {
      const { initAuthCreds } = await import("baileys");
      const credentials = initAuthCreds();
      const id = nextDevice;
      nextDevice += 1;
      const { signedPreKey: signed, registrationId, signedIdentityKey, noiseKey } = credentials;
      const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 1, keyIndex: id, deviceType: 0 }).finish();
      const preKeys = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at + 1, Curve.generateKeyPair()]));
      linked({
        id,
        noiseKey: Buffer.from(noiseKey.public),
        bundle: {
          registrationId,
          identity: signedIdentityKey.public,
          signedPreKey: { id: signed.keyId, key: signed.keyPair.public, signature: signed.signature },
        },
        preKeys: new Map(Object.entries(preKeys).map(([at, pair]) => [Number(at), pair.public])),
        queue: [],
      });
      const me = { id: owner.jid.replace("@", `:${id}@`), lid: owner.lid.replace("@", `:${id}@`), name: "Owner" };
      const account = { details, accountSignatureKey: owner.credentials.signedIdentityKey.public };
      const all = { ...credentials, me, account, nextPreKeyId: 31, firstUnuploadedPreKeyId: 31, registered: true };
      return {
        credentials: all,
        ...Object.fromEntries(Object.entries(preKeys).map(([at, pair]) => [`key/pre-key/${at}`, pair])),
      };
    },
  };
}
