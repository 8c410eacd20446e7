import { SvcError } from "@svc/contract";

/** What a network layer threw, in words that tell a certificate from a network. */
export function unreachable(cause: unknown): SvcError {
  if (!CERTIFICATE.has(codeOf(cause) ?? "")) return new SvcError("REMOTE_UNREACHABLE", undefined, { cause });
  return new SvcError("REMOTE_UNREACHABLE", "The remote server's certificate is not trusted here.", {
    cause,
    hint: "It is self-signed, out of date, or for another name. NODE_EXTRA_CA_CERTS names a file with further authorities.",
  });
}

const codeOf = (error: unknown): string | undefined => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  return cause === undefined ? undefined : codeOf(cause);
};

/** Of Node: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const CERTIFICATE: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
