/**
 * An authenticator and the browser before it, in software: real keys, real signatures, no person who has to wait. As strict as
 * both are, until a test asks it to lie (`Lies`).
 */
import { hash, randomBytes } from "node:crypto";
import { cbor, type CborValue } from "./cbor.ts";
import type { AssertionJson, CreationOptionsJson, RegistrationJson, RequestOptionsJson } from "./json.ts";
import { COSE_ALGORITHM, type CredentialKey, credentialKey, type SoftAlgorithm } from "./keys.ts";

export interface SoftAuthenticatorOptions {
  /** Default: the first one asked for that it knows. */
  readonly algorithm?: SoftAlgorithm;
  /** Default: 1. 0: it does not count, as those of phones. */
  readonly countsBy?: number;
  /** Default: neither. */
  readonly backup?: { readonly isEligible: boolean; readonly isBackedUp: boolean };
}

/** What a hostile browser or authenticator would write instead. */
export interface Lies {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  readonly rpId?: string;
  /** Bits of https://www.w3.org/TR/webauthn-3/#authdata-flags. */
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  /** Null: none. */
  readonly userHandle?: string | null;
  readonly attestation?: { readonly fmt: string; readonly attStmt: ReadonlyMap<string, CborValue> };
  /** Before it is signed. */
  readonly authData?: (bytes: Buffer) => Buffer;
}

export interface SoftCredential {
  readonly id: string;
  readonly rpId: string;
  readonly userHandle: string;
  readonly key: CredentialKey;
  counter: number;
}

export class SoftAuthenticator {
  /** Newest last. A copy of one is a clone. */
  readonly credentials: SoftCredential[] = [];
  readonly #options: SoftAuthenticatorOptions;

  constructor(options: SoftAuthenticatorOptions = {}) {
    this.#options = options;
  }

  /** With the same keys and counters, which count on apart from here on. */
  clone(): SoftAuthenticator {
    const copy = new SoftAuthenticator(this.#options);
    copy.credentials.push(...this.credentials.map((credential) => ({ ...credential })));
    return copy;
  }

  /** `navigator.credentials.create` of a page on `origin`, as `startRegistration` tells it. Throws as browsers do. */
  create(options: CreationOptionsJson, origin: string, lies: Lies = {}): RegistrationJson {
    if (lies.rpId === undefined && lies.origin === undefined) demandSuffix(options.rp.id, origin);
    const excluded = new Set(options.excludeCredentials?.map(({ id }) => id));
    if (this.credentials.some(({ id }) => excluded.has(id))) throw new DOMException("excluded", "InvalidStateError");
    const rpId = lies.rpId ?? options.rp.id;
    const credential: SoftCredential = {
      id: randomBytes(32).toString("base64url"),
      rpId: options.rp.id,
      userHandle: options.user.id,
      key: credentialKey(this.#algorithm(options)),
      counter: 0,
    };
    this.credentials.push(credential);
    const clientData = clientDataJson("webauthn.create", options.challenge, origin, lies);
    const authData = this.#authData(rpId, credential, lies, attested(credential));
    const { fmt, attStmt } = lies.attestation ?? { fmt: "none", attStmt: new Map() };
    const attestation = cbor(
      new Map<string, CborValue>([
        ["fmt", fmt],
        ["attStmt", attStmt],
        ["authData", authData],
      ]),
    );
    return {
      ...named(credential),
      response: {
        clientDataJSON: clientData.toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal", "hybrid"],
        publicKeyAlgorithm: credential.key.alg,
        authenticatorData: authData.toString("base64url"),
      },
      clientExtensionResults: { credProps: { rk: true } },
    };
  }

  /** `navigator.credentials.get`, where the person takes the newest passkey that fits. Throws as browsers do. */
  get(options: RequestOptionsJson, origin: string, lies: Lies = {}): AssertionJson {
    if (lies.rpId === undefined && lies.origin === undefined) demandSuffix(options.rpId, origin);
    const allowed = options.allowCredentials && new Set(options.allowCredentials.map(({ id }) => id));
    const credential = this.credentials.findLast(
      ({ id, rpId }) => rpId === options.rpId && (allowed === undefined || allowed.has(id)),
    );
    if (credential === undefined) throw new DOMException("no passkey fits", "NotAllowedError");
    credential.counter += this.#options.countsBy ?? 1;
    const clientData = clientDataJson("webauthn.get", options.challenge, origin, lies);
    const authData = this.#authData(lies.rpId ?? options.rpId, credential, lies);
    const signature = credential.key.sign(Buffer.concat([authData, hash("sha256", clientData, "buffer")]));
    const userHandle = lies.userHandle === undefined ? credential.userHandle : lies.userHandle;
    return {
      ...named(credential),
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authData.toString("base64url"),
        signature: signature.toString("base64url"),
        ...(userHandle !== null && { userHandle }),
      },
      clientExtensionResults: {},
    };
  }

  #algorithm({ pubKeyCredParams: wanted }: CreationOptionsJson): SoftAlgorithm {
    const known = Object.entries(COSE_ALGORITHM) as [SoftAlgorithm, number][];
    const [first] = wanted.flatMap(({ alg }) => known.filter(([, id]) => id === alg));
    const algorithm = this.#options.algorithm ?? first?.[0];
    if (algorithm === undefined) throw new DOMException("no algorithm fits", "NotSupportedError");
    return algorithm;
  }

  #authData(rpId: string, { counter }: SoftCredential, lies: Lies, attestedData?: Buffer): Buffer {
    const { isEligible = false, isBackedUp = false } = this.#options.backup ?? {};
    const { isPresent = true, isVerified = true } = lies;
    const flags =
      bit(isPresent, 0x01) |
      bit(isVerified, 0x04) |
      bit(isEligible, 0x08) |
      bit(isBackedUp, 0x10) |
      bit(attestedData !== undefined, 0x40);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? counter);
    const bytes = Buffer.concat([
      hash("sha256", rpId, "buffer"),
      Buffer.from([flags]),
      count,
      attestedData ?? Buffer.alloc(0),
    ]);
    return lies.authData?.(bytes) ?? bytes;
  }
}

const bit = (isSet: boolean, mask: number): number => (isSet ? mask : 0);

const named = ({ id }: SoftCredential) => ({
  id,
  rawId: id,
  type: "public-key",
  authenticatorAttachment: "platform",
});

/** https://www.w3.org/TR/webauthn-3/#sctn-attested-credential-data; all authenticators are of one make here. */
function attested({ id, key }: SoftCredential): Buffer {
  const bytes = Buffer.from(id, "base64url");
  return Buffer.concat([Buffer.alloc(16), Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes, key.cose]);
}

function clientDataJson(type: string, challenge: string, origin: string, lies: Lies): Buffer {
  const { topOrigin, crossOrigin = false } = lies;
  return Buffer.from(
    JSON.stringify({
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? origin,
      crossOrigin,
      ...(topOrigin !== undefined && { topOrigin }),
    }),
  );
}

/** A browser lets a page use the passkeys of its own host and of domains above it, and of no IP address. */
function demandSuffix(rpId: string, origin: string): void {
  const { hostname, protocol } = new URL(origin);
  const isSecure = protocol === "https:" || hostname === "localhost";
  if (isSecure && /[a-z]/.test(hostname) && (hostname === rpId || hostname.endsWith(`.${rpId}`))) return;
  throw new DOMException("the page's origin does not fit the relying party", "SecurityError");
}
