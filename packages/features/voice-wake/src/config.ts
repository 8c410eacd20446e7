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
    v.description("What has to be said before a command, in upper or lower case; a part of a word will do."),
  ),
  silence_timeout_ms: v.optional(
    v.pipe(integer(200, 10_000), v.description("Milliseconds of silence that end what is said.")),
    1_500,
  ),
  energy_threshold: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0.0001),
      v.maxValue(0.9),
      v.description("Least loudness (RMS, 1 is the loudest) of speech; in a noisy room more is asked for by itself."),
    ),
    0.01,
  ),
  max_capture_secs: v.optional(
    v.pipe(integer(2, 300), v.description("Longest command, in seconds; what is said after that is not heard.")),
    30,
  ),
  device: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[^-\s]\S{0,199}$/, "the name of a device, without spaces"),
      v.description("Microphone, as the recorder program names it. Default: the system's."),
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
      v.description("Most recordings transcribed in an hour; beyond it nothing is heard until one is an hour old."),
    ),
    120,
  ),
  price_per_minute: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0),
      v.description("US dollars that a minute of transcription costs, to show what the last hour cost."),
    ),
  ),
  agent,
  approvers,
});

export type Config = v.InferOutput<typeof config>;
