/** The section: the word, what counts as speech, and where it is heard. */
import { channelKeys, integer } from "@svc/contract";
import * as v from "valibot";

export const SECTION = "channels_config.voice_wake";
export const CHANNEL = "voice_wake";

const { agent, approvers } = channelKeys;

export const config = v.strictObject({
  wake_word: v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty("must not be blank"),
    v.maxLength(80),
    v.description("Wake phrase before a command; case is ignored, part of a word is enough."),
  ),
  silence_timeout_ms: v.optional(
    v.pipe(integer(200, 10_000), v.description("Milliseconds of silence that end a command.")),
    1_500,
  ),
  energy_threshold: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0.0001),
      v.maxValue(0.9),
      v.description(
        "Least loudness of speech (RMS, 1 is the loudest). In a noisy room, the threshold rises by itself.",
      ),
    ),
    0.01,
  ),
  max_capture_secs: v.optional(
    v.pipe(integer(2, 300), v.description("Longest command, in seconds; later speech is ignored.")),
    30,
  ),
  device: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[^-\s]\S{0,199}$/, "the name of a device, without spaces"),
      v.description("Microphone, as named by the recorder program. Default: the system's."),
    ),
  ),
  recorder: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.nonEmpty())),
      v.nonEmpty(),
      v.description(
        "Program and arguments that write 16 kHz mono samples of 16 bits, started without a shell. Default: parec, arecord or ffmpeg, whichever is installed.",
      ),
    ),
  ),
  max_transcriptions_per_hour: v.optional(
    v.pipe(
      integer(1, 10_000),
      v.description("Recordings transcribed per hour; beyond that, commands are ignored until the limit recovers."),
    ),
    120,
  ),
  price_per_minute: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0),
      v.description("Price of a minute of transcription in US dollars, to show the cost of the last hour."),
    ),
  ),
  agent,
  approvers,
});

export type Config = v.InferOutput<typeof config>;
