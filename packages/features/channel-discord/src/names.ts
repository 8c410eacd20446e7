/** Last part of the section's name, and what conversations are told by. */
export const CHANNEL = "discord";

/** Where the bot is made and its switches are. */
export const PORTAL = "https://discord.com/developers/applications";
