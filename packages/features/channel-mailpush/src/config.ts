import { allowlist, apiUrl, channelKeys, httpUrl, type Marks, secret } from "@svc/contract";
import * as v from "valibot";

const optionalUrl = (description: string, standard: string) =>
  v.optional(v.pipe(httpUrl(), v.description(description)), standard);

const keys = v.strictObject({
  ...channelKeys,
  enabled: v.optional(v.pipe(v.boolean(), v.description("Turns the channel on.")), false),
  topic: v.pipe(
    v.string(),
    v.regex(
      /^projects\/[\w.:-]{1,100}\/topics\/[\w.~+%-]{3,255}$/,
      "a topic's path: projects/<project>/topics/<topic>",
    ),
    v.description("Pub/Sub topic that the mailbox notifies of new mail."),
  ),
  oauth_token: v.optional(
    v.pipe(
      secret({ env: "MAILPUSH_OAUTH_TOKEN", envMode: "fallback" }),
      v.description(
        "Access token of the mailbox. It expires after an hour unless the three keys of the refresh token are set.",
      ),
    ),
  ),
  refresh_token: v.optional(
    v.pipe(secret({ ask: true }), v.description("Refresh token of the mailbox. svc uses it to get access tokens.")),
  ),
  client_id: v.optional(
    v.pipe(v.string(), v.metadata({ ask: true } satisfies Marks), v.description("OAuth client of refresh_token.")),
  ),
  client_secret: v.optional(v.pipe(secret({ ask: true }), v.description("Secret of the OAuth client."))),
  label_filter: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.nonEmpty())),
      v.description("Labels, by name or id; mail with any of them is read. Empty: all mail except spam and sent mail."),
    ),
    ["INBOX"],
  ),
  allowed_senders: allowlist("Addresses, domains or @domains"),
  webhook_url: v.optional(
    v.pipe(httpUrl(), v.description("URL for the push subscription; default: gateway.public_url and the path.")),
  ),
  webhook_secret: v.optional(
    v.pipe(
      secret({ generate: true, env: "MAILPUSH_WEBHOOK_SECRET", envMode: "fallback" }),
      v.description("Bearer secret that a push may present. Pub/Sub signs its pushes instead: see push_audience."),
    ),
  ),
  push_audience: v.optional(
    v.pipe(v.string(), v.nonEmpty(), v.description("Audience of the tokens that sign Pub/Sub's pushes.")),
  ),
  push_service_account: v.optional(
    v.pipe(v.string(), v.nonEmpty(), v.description("Address of the service account that signs Pub/Sub's pushes.")),
  ),
  jwks_url: optionalUrl("URL of the keys that verify those tokens.", "https://www.googleapis.com/oauth2/v3/certs"),
  api_url: apiUrl("https://gmail.googleapis.com"),
  pubsub_url: optionalUrl("Base URL of Pub/Sub's API, for the set-up.", "https://pubsub.googleapis.com"),
  token_url: optionalUrl("Endpoint that exchanges a refresh token.", "https://oauth2.googleapis.com/token"),
});

export type Config = v.InferOutput<typeof keys>;

const filled = (value: string | undefined): boolean => value !== undefined && value.trim() !== "";

/** Told at the keys that are missing: the ones that are there may have to be set one by one, by `svc secrets set`. */
const BESIDE = "is required beside the others of its kind";

const PUSH = [["push_audience"], ["push_service_account"]] as const;
const hasPush = (section: Pick<Config, "push_audience" | "push_service_account">): boolean =>
  filled(section.push_audience) || filled(section.push_service_account);

const GRANT = [["refresh_token"], ["client_id"], ["client_secret"]] as const;
const hasGrant = (section: Pick<Config, "refresh_token" | "client_id" | "client_secret">): boolean =>
  filled(section.refresh_token) || filled(section.client_id) || filled(section.client_secret);

export const config = v.pipe(
  keys,
  v.forward(
    v.partialCheck(PUSH, (section) => !hasPush(section) || filled(section.push_audience), BESIDE),
    ["push_audience"],
  ),
  v.forward(
    v.partialCheck(PUSH, (section) => !hasPush(section) || filled(section.push_service_account), BESIDE),
    ["push_service_account"],
  ),
  v.forward(
    v.partialCheck(GRANT, (section) => !hasGrant(section) || filled(section.refresh_token), BESIDE),
    ["refresh_token"],
  ),
  v.forward(
    v.partialCheck(GRANT, (section) => !hasGrant(section) || filled(section.client_id), BESIDE),
    ["client_id"],
  ),
  v.forward(
    v.partialCheck(GRANT, (section) => !hasGrant(section) || filled(section.client_secret), BESIDE),
    ["client_secret"],
  ),
);
