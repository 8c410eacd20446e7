/** What bodies may hold: nothing that the documents do not name, and nothing of another type. */
import * as v from "valibot";

const snowflake = v.pipe(v.string(), v.regex(/^[1-9]\d{0,19}$/));
const integer = v.pipe(v.number(), v.integer(), v.minValue(0));
const nothing = (key: string) => v.pipe(v.array(v.unknown()), v.maxLength(0, `${key} are not known to this fake`));

const button = v.strictObject({
  type: v.literal(2),
  id: v.optional(integer),
  style: v.picklist([1, 2, 3, 4]),
  label: v.pipe(v.string(), v.minLength(1), v.maxLength(80)),
  custom_id: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  disabled: v.optional(v.boolean()),
});

/** https://docs.discord.com/developers/components/reference#action-row */
const row = v.strictObject({
  type: v.literal(1),
  id: v.optional(integer),
  components: v.pipe(v.array(button), v.minLength(1), v.maxLength(5)),
});

const rows = v.pipe(
  v.array(row),
  v.maxLength(5),
  v.check((all) => {
    const ids = all.flatMap(({ components }) => components.map(({ custom_id: id }) => id));
    return new Set(ids).size === ids.length;
  }, "Component custom id cannot be duplicated"),
);

/** https://docs.discord.com/developers/resources/message#allowed-mentions-object */
const allowedMentions = v.strictObject({
  parse: v.optional(v.array(v.picklist(["roles", "users", "everyone"]))),
  roles: v.optional(v.pipe(v.array(snowflake), v.maxLength(100))),
  users: v.optional(v.pipe(v.array(snowflake), v.maxLength(100))),
  replied_user: v.optional(v.boolean()),
});

const attachment = v.strictObject({
  id: v.union([integer, v.string()]),
  filename: v.optional(v.string()),
  title: v.optional(v.string()),
  description: v.optional(v.pipe(v.string(), v.maxLength(1024))),
});

const content = v.optional(v.pipe(v.string(), v.maxLength(2000, "Must be 2000 or fewer in length.")));

const said = {
  content: v.nullish(content),
  embeds: v.nullish(nothing("embeds")),
  allowed_mentions: v.nullish(allowedMentions),
  components: v.nullish(rows),
  attachments: v.nullish(v.pipe(v.array(attachment), v.maxLength(10))),
  flags: v.nullish(integer),
};

/** https://docs.discord.com/developers/resources/message#create-message */
export const CREATE_MESSAGE = v.strictObject({
  ...said,
  nonce: v.optional(v.union([integer, v.pipe(v.string(), v.maxLength(25))])),
  enforce_nonce: v.optional(v.boolean()),
  tts: v.optional(v.boolean()),
  message_reference: v.optional(
    v.strictObject({
      type: v.optional(v.literal(0)),
      message_id: snowflake,
      channel_id: v.optional(snowflake),
      guild_id: v.optional(snowflake),
      fail_if_not_exists: v.optional(v.boolean()),
    }),
  ),
  sticker_ids: v.optional(nothing("stickers")),
});

/**
 * Also of answers to interactions.
 * https://docs.discord.com/developers/resources/message#edit-message
 * https://docs.discord.com/developers/resources/webhook#edit-webhook-message
 */
export const EDIT_MESSAGE = v.strictObject({
  ...said,
  // The official client sends it along.
  tts: v.optional(v.boolean()),
  enforce_nonce: v.optional(v.literal(false)),
});

/** https://docs.discord.com/developers/resources/channel#start-thread-from-message */
export const START_THREAD = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  auto_archive_duration: v.optional(v.picklist([60, 1440, 4320, 10_080])),
  rate_limit_per_user: v.nullish(integer),
  // The official client sends it along.
  type: v.optional(v.picklist([10, 11])),
});

export const OPEN_DIRECT = v.strictObject({ recipient_id: snowflake });

/** https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object */
export const CALLBACK = v.union([
  v.strictObject({ type: v.literal(4), data: EDIT_MESSAGE }),
  v.strictObject({ type: v.literal(5), data: v.optional(v.strictObject({ flags: v.optional(integer) })) }),
  v.strictObject({ type: v.literal(6) }),
  v.strictObject({ type: v.literal(7), data: EDIT_MESSAGE }),
]);

const option = v.strictObject({
  type: v.picklist([3, 4, 5]),
  name: v.pipe(v.string(), v.regex(/^[-_'\p{L}\p{N}]{1,32}$/u)),
  description: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  required: v.optional(v.boolean()),
});

/** https://docs.discord.com/developers/interactions/application-commands#application-command-object */
export const COMMANDS = v.pipe(
  v.array(
    v.strictObject({
      type: v.optional(v.literal(1)),
      name: v.pipe(v.string(), v.regex(/^[-_'\p{Ll}\p{N}]{1,32}$/u)),
      description: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
      options: v.optional(v.pipe(v.array(option), v.maxLength(25))),
      default_member_permissions: v.nullish(v.string()),
      nsfw: v.optional(v.boolean()),
    }),
  ),
  v.maxLength(100),
  v.check(
    (all) => new Set(all.map(({ name }) => name)).size === all.length,
    "Application command names must be unique",
  ),
);
