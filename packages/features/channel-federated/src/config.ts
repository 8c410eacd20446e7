/** The section of the config. */
import { ackReaction, allowlist, channelKeys, httpUrl, secret, streamKeys, trimEndOf } from "@svc/contract";
import * as v from "valibot";

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "federated";

const DRAFT_INTERVAL_MS = 1_500;

/** https://spec.matrix.org/v1.16/appendices/#identifier-grammar. The id of a room of version 12 has no server in it. */
const USER_ID = /^@[^\s:]{1,240}:[^\s]{1,240}$/;
export const ROOM_ID = /^![^\s/?#]{1,254}$/;
export const ROOM_ALIAS = /^#[^\s/?]{1,254}:[^\s/?#]{1,240}$/;

const room = () =>
  v.pipe(
    v.string(),
    v.trim(),
    v.check(
      (text) => ROOM_ID.test(text) || ROOM_ALIAS.test(text),
      "a room's id (!abc:example.org) or alias (#name:example.org)",
    ),
  );

const keys = v.strictObject({
  homeserver: v.pipe(
    httpUrl(),
    v.transform((url) => trimEndOf(url, "/")),
    v.description("Base URL of the homeserver's client API, such as https://matrix.example.org."),
  ),
  access_token: v.optional(
    v.pipe(
      secret({ env: "SVC_FEDERATED_ACCESS_TOKEN", envMode: "override", ask: true }),
      // It becomes a header.
      v.regex(/^[\x21-\x7e]*$/, "an access token: letters, digits and punctuation, without spaces"),
      v.description("Access token of the account's device. Without it, password and `svc channels setup federated`."),
    ),
  ),
  password: v.optional(
    v.pipe(
      secret(),
      v.description("Password of the account. `svc channels setup federated` logs in with it and stores the token."),
    ),
  ),
  user_id: v.optional(
    v.pipe(
      v.string(),
      v.regex(USER_ID, "a user id, such as @svc:example.org"),
      v.description("User id of the account, such as @svc:example.org. Required with password."),
    ),
  ),
  device_id: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[^\s/?#]{1,255}$/, "a device id, without spaces"),
      v.description("Device of the access token. Default: svc asks the homeserver."),
    ),
  ),
  room_id: v.optional(
    v.pipe(room(), v.description("Room to join at start, by id or alias. Notifications go there by default.")),
  ),
  allowed_rooms: v.optional(
    v.pipe(
      v.array(v.union([v.literal("*"), room()])),
      v.description(
        "Rooms in which messages are answered, by id or alias; * is any. Default: room_id if set, else any.",
      ),
    ),
  ),
  allowed_users: allowlist("People, by user id,"),
  invite: v.optional(
    v.pipe(
      v.picklist(["allowed", "never"]),
      v.description("allowed: invitations from allowed_users to allowed_rooms are accepted. never: none is."),
    ),
    "allowed",
  ),
  mention_only: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        "In rooms with more than two members, answer only messages that mention the account or reply to it.",
      ),
    ),
    true,
  ),
  recovery_key: v.optional(
    v.pipe(
      secret(),
      v.check(
        (key) => key.trim() === "" || isRecoveryKey(key),
        "a recovery key: groups of letters and digits that begin with E",
      ),
      v.description("Recovery key of the account: opens its cross-signing keys and its key backup."),
    ),
  ),
  ack_reaction: ackReaction("👀"),
  ...streamKeys(DRAFT_INTERVAL_MS),
  ...channelKeys,
});

export const config = v.pipe(
  keys,
  v.forward(
    v.partialCheck(
      [["access_token"], ["password"]],
      ({ access_token: token, password }) => isGiven(token) || isGiven(password),
      "is required, unless password is set",
    ),
    ["access_token"],
  ),
  v.forward(
    v.partialCheck(
      [["access_token"], ["user_id"]],
      ({ access_token: token, user_id: user }) => isGiven(token) || isGiven(user),
      "is required with password",
    ),
    ["user_id"],
  ),
);

export type Config = v.InferOutput<typeof config>;

export const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== "";

/** Base58 without 0, O, I and l; the first of 35 bytes is 0x8b. https://spec.matrix.org/v1.16/appendices/#cryptographic-key-representation */
function isRecoveryKey(text: string): boolean {
  return /^E[1-9A-HJ-NP-Za-km-z]{40,60}$/.test(text.replaceAll(/\s/g, ""));
}
