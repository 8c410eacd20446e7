/** A certificate that signs itself, made without a program: openssl is not on every machine. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

export interface SelfSigned {
  /** PEM. */
  readonly key: string;
  /** PEM; valid from 2020 to 2049. */
  readonly cert: string;
}

/** `commonName` is what the certificate calls itself; clients look at `names` alone, host names and IPv4 addresses. */
export function selfSigned(commonName: string, names: readonly string[] = [commonName]): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, commonName))));
  const alternatives = names.map((one) =>
    isIPv4(one) ? der(0x87, Buffer.from(one.split(".").map(Number))) : der(0x82, one),
  );
  const extensions = [
    sequence(oid(BASIC_CONSTRAINTS), der(0x04, sequence(der(0x01, Buffer.of(0xff))))), // an authority: it may sign itself
    sequence(oid(SUBJECT_ALT_NAME), der(0x04, sequence(...alternatives))),
  ];
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    sequence(oid(ECDSA_WITH_SHA256)),
    name,
    sequence(der(0x17, "200101000000Z"), der(0x17, "490101000000Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  const whole = sequence(toBeSigned, sequence(oid(ECDSA_WITH_SHA256)), der(0x03, Buffer.of(0), signature));
  const lines = whole.toString("base64").replaceAll(/.{1,64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
  };
}

const COMMON_NAME = "550403";
const BASIC_CONSTRAINTS = "551d13";
const SUBJECT_ALT_NAME = "551d11";
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";

/** One element of DER: tag, length, content. */
function der(tag: number, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const { length } = body;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), body]);
}
const sequence = (...content: readonly Buffer[]): Buffer => der(0x30, ...content);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
