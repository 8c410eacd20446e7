/** The channel: events come in by the gateway, everything else goes through the platform's API. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, senderGate, sentPartsIn } from "@svc/kit";
import { accountLine, setUp } from "./account.ts";
import type { Config } from "./config.ts";
import { cdnOf, MAX_MEDIA_BYTES, mediaFetcher } from "./files.ts";
import { TEXT_CHARS } from "./format.ts";
import { readingIn } from "./intake.ts";
import { interactionTokens } from "./interactions.ts";
import { guildGate, rooms as knownRooms } from "./message.ts";
import { directMessagesIn, placesBy } from "./places.ts";
import { draftsBy, presenceOf } from "./progress.ts";
import { promptPoster } from "./prompts.ts";
import { CHANNEL } from "./protocol.ts";
import { identifyPace, restApi } from "./rest.ts";
import { answeredCommands, messageSender, references } from "./send.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, clock, log, secrets, state } = context;
  const rest = restApi(config, context);
  const direct = directMessagesIn(state, rest);
  const places = placesBy(rest, direct);
  const tokens = interactionTokens(secrets, clock);
  const commands = answeredCommands(rest, tokens);
  const send = messageSender({ rest, places, references: references(), commands, sentParts: sentPartsIn(context) });
  const drafts = draftsBy(rest, places, config);

  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    ...(drafts && { drafts }),
    prompts: promptPoster(rest, places, send),
    ...presenceOf(rest, places, config.ack_reaction),
    media: { maxBytes: MAX_MEDIA_BYTES, sends: MEDIA_KINDS, voiceNotes: true, fetch: mediaFetcher(config, context) },
    check: (signal) => accountLine(rest, signal),
    setup: (_options, signal) => setUp(rest, signal),
  };

  const rooms = knownRooms();
  const isAllowed = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  const listensTo = guildGate(config.allowed_guilds, log);
  const reader = { config, rooms, cdn: cdnOf(config) };
  const pace = identifyPace(clock);
  const reading = readingIn(context);
  return {
    channel,
    async run(signal) {
      // The library is evaluated with the first connection.
      const { runGateway } = await import("./run.ts");
      const parts = { context, config, rest, reader, rooms, reading, direct, tokens, isAllowed, listensTo, pace };
      await runGateway(parts, signal);
    },
  };
}
