/**
 * What the platform tells a connection of. Message content is the one that has to be turned on in the developer portal.
 * https://docs.discord.com/developers/events/gateway#list-of-intents
 */
const GUILDS = 1 << 0;
const GUILD_MESSAGES = 1 << 9;
const GUILD_MESSAGE_REACTIONS = 1 << 10;
const DIRECT_MESSAGES = 1 << 12;
const DIRECT_MESSAGE_REACTIONS = 1 << 13;
const MESSAGE_CONTENT = 1 << 15;

export const INTENTS =
  GUILDS | GUILD_MESSAGES | GUILD_MESSAGE_REACTIONS | DIRECT_MESSAGES | DIRECT_MESSAGE_REACTIONS | MESSAGE_CONTENT;
