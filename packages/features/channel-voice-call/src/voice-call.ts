/** The channel: calls come in by webhooks, everything else goes through the REST API. */
import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { isAllowed, runChannel, senderGate } from "@svc/kit";
import { accountLine, setUp } from "./account.ts";
import { platformApi } from "./api.ts";
import { Calls, stopped } from "./calls.ts";
import type { Config } from "./config.ts";
import { dialogue } from "./dialogue.ts";
import { followUp } from "./follow-up.ts";
import { MAX_CHARS } from "./message.ts";
import { CHANNEL } from "./protocol.ts";
import { recordings } from "./recordings.ts";
import { asChannel, messageSender, placedCalls } from "./send.ts";
import { AudioShelf, createSpeaker } from "./speaker.ts";
import { documents } from "./twiml.ts";
import { audioFiles, callersSpeech, callStates, incomingCalls, nextDocuments } from "./webhooks.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log, clock, publicUrl } = context;
  const known = config.webhook_url ?? publicUrl;
  const base = known ?? "";
  const api = platformApi(config, context);
  const calls = new Calls();
  const shelf = new AudioShelf();
  const speaker = createSpeaker(config, { base, shelf }, context);
  const written = documents(config, base);
  const { allowed_numbers: allowed } = config;
  const talk = dialogue({
    config,
    documents: written,
    phrase: speaker.phrase,
    isAllowed: (person) => isAllowed(allowed, person, "phone"),
  });
  const letsIn = senderGate({ allowed, mode: "phone", log, channel: CHANNEL });
  const ways = { config, base: known, calls, dialogue: talk, documents: written, letsIn, log };
  const send = messageSender({
    config,
    base,
    api,
    calls,
    dialogue: talk,
    speaker,
    placed: placedCalls(context),
    clock,
  });
  const life = new AbortController();
  const makePhrases = (): void => void speaker.makePhrases(life.signal);
  const check = (signal: AbortSignal): Promise<string> => accountLine(api, config, signal);

  return {
    channel: {
      text: { maxChars: MAX_CHARS },
      ...asChannel(send),
      ...(config.recognizer === "transcription" && { media: recordings(api, context) }),
      check,
      setup: (_, signal) => setUp(api, config, base, signal),
      onNotice: followUp({ config, base, api, makePhrases }),
    },
    ingress: [incomingCalls(ways), nextDocuments(ways), callersSpeech(ways), callStates(ways), audioFiles(shelf)],
    async register(signal) {
      signal.throwIfAborted();
      if (known === undefined) throw noAddress();
    },
    async run(signal) {
      signal.throwIfAborted();
      makePhrases();
      await runChannel(check, log, signal);
    },
    async shutdown() {
      life.abort(stopped());
      calls.stop();
    },
  };
}

const noAddress = (): SvcError =>
  new SvcError("FEATURE_FAILED", "The platform can't reach this service: its public address is not configured.", {
    hint: "Set gateway.public_url, or webhook_url in [channels_config.voice_call].",
  });
