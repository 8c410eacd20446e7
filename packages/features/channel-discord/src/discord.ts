/** The channel: events come in by the gateway, everything else goes through the platform's API. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, senderGate, sentPartsIn } from "@svc/kit";
import { accountLine } from "./account.ts";
import { restApi } from "./api/rest.ts";
import type { Config } from "./config.ts";
import { identifyPace } from "./gateway/identify-pace.ts";
import { guildGate } from "./inbound/guild-gate.ts";
import { rooms as knownRooms } from "./inbound/rooms.ts";
import { cdnOf, mediaFetcher } from "./media.ts";
import { CHANNEL } from "./names.ts";
import { answeredCommands } from "./outbound/answered-commands.ts";
import { draftsBy } from "./outbound/drafts.ts";
import { MAX_MEDIA_BYTES } from "./outbound/files.ts";
import { TEXT_CHARS } from "./outbound/format.ts";
import { placesBy } from "./outbound/places.ts";
import { presenceOf } from "./outbound/presence.ts";
import { promptPoster } from "./outbound/prompts.ts";
import { references } from "./outbound/references.ts";
import { messageSender } from "./outbound/send.ts";
import { setUp } from "./setup.ts";
import { directMessagesIn } from "./state/direct-messages.ts";
import { interactionTokens } from "./state/interaction-tokens.ts";
import { readingIn } from "./state/reading.ts";

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
      const { runGateway } = await import("./gateway/run.ts");
      const parts = { context, config, rest, reader, rooms, reading, direct, tokens, isAllowed, listensTo, pace };
      await runGateway(parts, signal);
    },
  };
}
