/** The channel: calls come in by webhooks, everything else goes through the REST API. */
import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { isAllowed, runChannel, senderGate } from "@svc/kit";
import { accountLine } from "./account.ts";
import { stopped } from "./calls/call.ts";
import { Calls } from "./calls/calls.ts";
import { dialogue } from "./calls/dialogue.ts";
import { followUp } from "./calls/follow-up.ts";
import type { Config } from "./config.ts";
import { audioFiles } from "./ingress/audio.ts";
import { incomingCalls } from "./ingress/incoming.ts";
import { nextDocuments } from "./ingress/next.ts";
import { callersSpeech } from "./ingress/speech.ts";
import { callStates } from "./ingress/status.ts";
import { CHANNEL } from "./names.ts";
import { platformApi } from "./platform/api.ts";
import { recordings } from "./recordings.ts";
import { AudioShelf } from "./send/audio-shelf.ts";
import { MAX_CHARS } from "./send/message.ts";
import { placedCalls } from "./send/placed-calls.ts";
import { asChannel, messageSender } from "./send/send.ts";
import { createSpeaker } from "./send/speaker.ts";
import { setUp } from "./setup.ts";
import { documents } from "./twiml/documents.ts";

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
  new SvcError("FEATURE_FAILED", "The platform can't reach this service: nobody says at which address.", {
    hint: "Set gateway.public_url, or webhook_url in [channels_config.voice_call].",
  });
