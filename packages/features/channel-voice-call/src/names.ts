/** What this channel is called in conversations and in the log. */
export const CHANNEL = "voice_call";
