import { allowlist, channelKeys, httpUrl, integer, secret } from "@svc/contract";
import { isAbsolute } from "node:path";
import * as v from "valibot";

/** As in a URL: [::1] is the address ::1. */
const unbracketed = (name: string): string => (name.startsWith("[") ? name.slice(1, -1) : name);

const host = (description: string) =>
  v.pipe(
    v.string(),
    v.trim(),
    // A name or an address; a port or a scheme would be looked up as a part of the name.
    v.regex(
      /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|[0-9a-f]*:[0-9a-f:.]*|\[[0-9a-f]*:[0-9a-f:.]*\])$/i,
      "a host name or an address, without a port",
    ),
    v.description(description),
    v.transform(unbracketed),
  );
const port = (description: string) => v.optional(v.pipe(integer(1, 65_535), v.description(description)));
const security = (description: string) =>
  v.optional(v.pipe(v.picklist(["tls", "starttls", "none"]), v.description(description)));
const words = (description: string) =>
  v.optional(v.pipe(v.string(), v.trim(), v.nonEmpty(), v.description(description)));

const keys = v.strictObject({
  ...channelKeys,
  address: v.pipe(
    v.string(),
    v.trim(),
    v.regex(/^[^\s@,;:<>"()[\]\\]{1,64}@[^\s@,;:<>"()[\]\\]{1,255}$/, "one mail address"),
    v.description("Mail address of the agent; answers come from it."),
  ),
  display_name: words("Display name."),
  imap_host: host("IMAP server for incoming mail."),
  imap_port: port("Its port; default: 993, or 143 without TLS from the start."),
  imap_security: security(
    "tls: implicit TLS. starttls: upgrade first, or close the connection. none: only for this machine or an address in security.net.allow_private. Default: tls; on port 143, starttls.",
  ),
  smtp_host: host("SMTP server for outgoing mail."),
  smtp_port: port("Its port; default: 465, or 587 without TLS from the start."),
  smtp_security: security("Like imap_security. Default: tls; on ports 587 and 25, starttls."),
  tls_ca_file: v.optional(
    v.pipe(
      v.string(),
      v.check((path) => isAbsolute(path), "an absolute path"),
      v.description("PEM file of certificate authorities to trust for both servers, instead of the system's."),
    ),
  ),
  username: words("Name to sign in with; default: address."),
  password: v.optional(
    v.pipe(
      secret({ ask: true, env: "SVC_EMAIL_PASSWORD", envMode: "override" }),
      v.description("Password of the mailbox, or an app password. Not needed with a token."),
    ),
  ),
  access_token: v.optional(
    v.pipe(
      secret(),
      v.description("OAuth access token (XOAUTH2), instead of a password. It expires soon without a refresh token."),
    ),
  ),
  refresh_token: v.optional(v.pipe(secret(), v.description("Refresh token. svc uses it to get access tokens."))),
  client_id: v.optional(v.pipe(v.string(), v.description("OAuth client of refresh_token."))),
  client_secret: v.optional(v.pipe(secret(), v.description("Secret of the OAuth client."))),
  token_url: v.optional(v.pipe(httpUrl(), v.description("Endpoint that exchanges the refresh token."))),
  mailbox: v.optional(
    v.pipe(v.string(), v.trim(), v.nonEmpty(), v.description("Mailbox to read, as the server names it.")),
    "INBOX",
  ),
  allowed_senders: allowlist("Addresses, domains or @domains"),
  require_authenticated: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        "Answer only mail whose sender's domain the receiving server has verified by DMARC, DKIM or SPF. Without it, anyone who knows an allowed address, or an approver's, can write in its name.",
      ),
    ),
    true,
  ),
  authserv_id: words(
    "Name of the mail server in its Authentication-Results headers. Without it, svc trusts the topmost of these headers.",
  ),
  poll_interval_secs: v.optional(
    v.pipe(integer(5, 3600), v.description("Seconds between polls of a server without IDLE.")),
    60,
  ),
  max_attachment_mb: v.optional(
    v.pipe(integer(1, 200), v.description("Largest file, incoming or outgoing, in MiB.")),
    25,
  ),
  mark_seen: v.optional(v.pipe(v.boolean(), v.description("Mark mail as read when its turn begins.")), true),
  processed_mailbox: words("Mailbox that answered mail is moved to. It must exist."),
  save_sent: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(),
      v.description("Mailbox for sent answers: off, auto (the server's mailbox for sent mail), or a name."),
    ),
    "off",
  ),
  max_answers_per_hour: v.optional(
    v.pipe(
      integer(0, 10_000),
      v.description(
        "Mails of one thread per hour beyond which svc assumes a mail loop and stops answering; 0: no limit.",
      ),
    ),
    20,
  ),
});

export type Config = v.InferOutput<typeof keys>;

const filled = (value: string | undefined): boolean => value !== undefined && value.trim() !== "";

/** Told at the keys that are missing: the ones that are there may have to be set one by one, by `svc secrets set`. */
const BESIDE = "is required beside the others of its kind";
const GRANT = ["refresh_token", "client_id", "client_secret", "token_url"] as const;
const GRANT_PATHS = [["refresh_token"], ["client_id"], ["client_secret"], ["token_url"]] as const;
type Grant = Pick<Config, (typeof GRANT)[number]>;

const hasGrant = (section: Grant): boolean => GRANT.some((key) => filled(section[key]));
const isThere = (key: keyof Grant) => (section: Grant) => !hasGrant(section) || filled(section[key]);

const isSafe = (security: string | undefined, name: string): boolean => security !== "none" || NO_NAME.test(name);
/** What a name leads to is known only when it is looked up; an address is checked when the channel starts. */
const NO_NAME = /^(?:localhost|[\d.]+|[0-9a-f.]*:[0-9a-f:.]*)$/i;
const SAFE = "none is for this machine and for private addresses; write the server's address, or use tls";

export const config = v.pipe(
  keys,
  v.forward(v.partialCheck(GRANT_PATHS, isThere("refresh_token"), BESIDE), ["refresh_token"]),
  v.forward(v.partialCheck(GRANT_PATHS, isThere("client_id"), BESIDE), ["client_id"]),
  v.forward(v.partialCheck(GRANT_PATHS, isThere("client_secret"), BESIDE), ["client_secret"]),
  v.forward(v.partialCheck(GRANT_PATHS, isThere("token_url"), BESIDE), ["token_url"]),
  v.forward(
    v.partialCheck(
      [["password"], ["access_token"], ["refresh_token"]],
      (section) => [section.password, section.access_token, section.refresh_token].some(filled),
      "is required, unless there is an access_token or a refresh_token",
    ),
    ["password"],
  ),
  v.forward(
    v.partialCheck(
      [["imap_host"], ["imap_security"]],
      (section) => isSafe(section.imap_security, section.imap_host),
      SAFE,
    ),
    ["imap_security"],
  ),
  v.forward(
    v.partialCheck(
      [["smtp_host"], ["smtp_security"]],
      (section) => isSafe(section.smtp_security, section.smtp_host),
      SAFE,
    ),
    ["smtp_security"],
  ),
);
