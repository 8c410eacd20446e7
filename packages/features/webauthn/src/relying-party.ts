/** Who passkeys are for: the name that browsers bind them to, and the page that they may be used on. */
import { SvcError } from "@svc/contract";
import { type Config, isSecureOrigin, isSuffixOf } from "./config.ts";

export interface RelyingParty {
  readonly id: string;
  readonly name: string;
  /**
   * The origin that a ceremony begun by this request must end on. `asked`: the request's own `Origin`. Throws
   * PASSKEY_REFUSED for a page that no passkey of ours works on.
   */
  originFor(asked: string | undefined): string;
}

/** Throws CONFIG_INVALID for what only shows together with `gateway.public_url`. */
export function relyingParty(
  { rp_id: id, rp_name: name, rp_origin: origin }: Config,
  publicUrl: string | undefined,
): RelyingParty {
  const fixed = origin ?? originOf(publicUrl);
  if (fixed === undefined) return onThisMachine(id, name);
  const { hostname } = new URL(fixed);
  if (id !== undefined && !isSuffixOf(id, hostname)) {
    throw invalid(
      "rp_id is neither the host of gateway.public_url nor a domain above it.",
      "Leave rp_id out, or set rp_origin to the page that people open.",
    );
  }
  return { id: id ?? hostname, name, originFor: (asked) => only(fixed, asked) };
}

function originOf(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined;
  const { origin } = new URL(publicUrl);
  if (isSecureOrigin(origin)) return origin;
  throw invalid(
    "Browsers use no passkeys on gateway.public_url: it is not https, or its host is an IP address.",
    "Set [security.webauthn] rp_origin to https:// and the host name that people open.",
  );
}

/** Without any URL in the config: whatever port the page came from, as long as the host is this machine's own. */
function onThisMachine(id: string | undefined, name: string): RelyingParty {
  if (id !== undefined && id !== "localhost") {
    throw invalid(
      "rp_id needs rp_origin, or gateway.public_url: the page that people open.",
      "Set [security.webauthn] rp_origin to https:// and a host of that domain.",
    );
  }
  const originFor = (asked: string | undefined): string => {
    if (asked !== undefined && URL.canParse(asked)) {
      const { origin, hostname } = new URL(asked);
      if (hostname === "localhost") return origin;
    }
    throw new SvcError(
      "PASSKEY_REFUSED",
      "Without gateway.public_url, passkeys work on http://localhost and the gateway's port only: open the page there.",
      { hint: "For another address set gateway.public_url, or [security.webauthn] rp_origin." },
    );
  };
  return { id: "localhost", name, originFor };
}

/** Told before a person is asked for a finger: the browser would refuse, in words that help nobody. */
function only(fixed: string, asked: string | undefined): string {
  if (asked === undefined || asked === fixed) return fixed;
  throw new SvcError("PASSKEY_REFUSED", "Passkeys work on another address than this page's: open the page there.", {
    hint: "Which one: [security.webauthn] rp_origin, else gateway.public_url.",
  });
}

const invalid = (message: string, hint: string): SvcError => new SvcError("CONFIG_INVALID", message, { hint });
