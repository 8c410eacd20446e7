/** A phone of the platform: it plays its Signal sessions with the library's own repository, and reads what the linked device sends. */
import {
  addTransactionCapability,
  type AuthenticationCreds,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalKeyStore,
  type SignalRepositoryWithLIDStore,
  unpadRandomMax16,
} from "baileys";
import { generateSignalPubKey } from "baileys";

const none = (): void => undefined;
const SILENT = { level: "silent", trace: none, debug: none, info: none, warn: none, error: none, child: () => SILENT };

export interface Bundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signedPreKey: { readonly id: number; readonly key: Uint8Array; readonly signature: Uint8Array };
  readonly preKey?: { readonly id: number; readonly key: Uint8Array } | undefined;
}

export interface Phone {
  readonly number: string;
  /** `<digits>@s.whatsapp.net` and `<id>@lid`. */
  readonly jid: string;
  readonly lid: string;
  readonly name: string;
  readonly credentials: AuthenticationCreds;
  readonly repository: SignalRepositoryWithLIDStore;
  /** A pre-key that nobody has had yet. */
  bundle(): Promise<Bundle>;
  /** Forgets the sessions with a device, whose keys are others now. */
  forget(address: string): Promise<void>;
  hasSession(jid: string): Promise<boolean>;
  begin(jid: string, bundle: Bundle): Promise<void>;
  encrypt(jid: string, message: proto.IMessage): Promise<{ type: string; ciphertext: Uint8Array }>;
  /** Throws what the session throws. */
  decrypt(jid: string, type: string, ciphertext: Uint8Array): Promise<proto.Message>;
}

export function createPhone(number: string, lidUser: string, name: string): Phone {
  const credentials = initAuthCreds();
  const stored = new Map<string, unknown>();
  const store: SignalKeyStore = {
    get: (type, ids) =>
      Object.fromEntries(
        ids.flatMap((id) => (stored.has(`${type}/${id}`) ? [[id, stored.get(`${type}/${id}`)]] : [])),
      ) as never,
    set: (data: SignalDataSet) => {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) {
          if (value === null) stored.delete(`${type}/${id}`);
          else stored.set(`${type}/${id}`, value);
        }
      }
    },
  };
  const keys = addTransactionCapability(store, SILENT, { maxCommitRetries: 1, delayBetweenTriesMs: 0 });
  const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: credentials, keys },
    SILENT,
    async () => [],
  );
  let preKeys = 0;
  return {
    number,
    jid: `${number.slice(1)}@s.whatsapp.net`,
    lid: `${lidUser}@lid`,
    name,
    credentials,
    repository,
    async bundle() {
      const { Curve } = await import("baileys");
      preKeys += 1;
      const pair = Curve.generateKeyPair();
      await store.set({ "pre-key": { [preKeys]: pair } });
      const { keyPair, keyId, signature } = credentials.signedPreKey;
      return {
        registrationId: credentials.registrationId,
        identity: credentials.signedIdentityKey.public,
        signedPreKey: { id: keyId, key: keyPair.public, signature },
        preKey: { id: preKeys, key: pair.public },
      };
    },
    async forget(jid) {
      await repository.deleteSession([jid]);
      stored.delete(`identity-key/${repository.jidToSignalProtocolAddress(jid)}`);
    },
    hasSession: async (jid) => (await repository.validateSession(jid)).exists,
    begin: (jid, { registrationId, identity, signedPreKey, preKey }) =>
      repository.injectE2ESession({
        jid,
        session: {
          registrationId,
          identityKey: generateSignalPubKey(identity),
          signedPreKey: {
            keyId: signedPreKey.id,
            publicKey: generateSignalPubKey(signedPreKey.key),
            signature: signedPreKey.signature,
          },
          ...(preKey && { preKey: { keyId: preKey.id, publicKey: generateSignalPubKey(preKey.key) } }),
        },
      }),
    encrypt: (jid, message) => repository.encryptMessage({ jid, data: encodeWAMessage(message) }),
    async decrypt(jid, type, ciphertext) {
      const padded = await repository.decryptMessage({
        jid,
        type: type as "pkmsg",
        ciphertext: Buffer.from(ciphertext),
      });
      const message = proto.Message.decode(unpadRandomMax16(padded));
      const { senderKeyDistributionMessage: key } = message;
      if (key) await repository.processSenderKeyDistributionMessage({ authorJid: jid, item: key });
      return message;
    },
  };
}
