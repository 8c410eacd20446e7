/** Words as tones of different pitch, and a transcription service that recognises them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const RATE = 16_000;
const TONE_MS = 180;
const GAP_MS = 60;
const LOUD = 3_000;
/** Pitches are far enough apart to be counted by their crossings of zero. */
const WAKE_HZ = 500;
const DIGIT_HZ = Array.from({ length: 10 }, (_, digit) => 700 + 100 * digit);

export const wordsOf = (number: number): string[] => [...String(number)];
export const silence = (ms: number): Int16Array => new Int16Array((ms * RATE) / 1_000);

/** With a gap behind it. */
export function toneOf(word: string): Int16Array {
  const hz = word === "computer" ? WAKE_HZ : DIGIT_HZ[Number(word)]!;
  const samples = silence(TONE_MS + GAP_MS);
  for (let at = 0; at < (TONE_MS * RATE) / 1_000; at += 1)
    samples[at] = LOUD * Math.sin((2 * Math.PI * hz * at) / RATE);
  return samples;
}

const FRAME = RATE / 100;

/** As many words as there are tones in it. */
function heardIn(samples: Int16Array): string {
  const words: string[] = [];
  let [crossings, length] = [0, 0];
  const end = (): void => {
    // A tone whose beginning or end is cut off has a pitch all the same.
    if (length >= 5 * FRAME) words.push(wordAt((crossings / 2 / length) * RATE));
    [crossings, length] = [0, 0];
  };
  for (let from = 0; from + FRAME <= samples.length; from += FRAME) {
    const frame = samples.subarray(from, from + FRAME);
    if (Math.max(...frame) < LOUD / 2) {
      end();
      continue;
    }
    length += FRAME;
    for (let at = from; at < from + FRAME; at += 1) if ((samples[at - 1] ?? 0) < 0 !== samples[at]! < 0) crossings += 1;
  }
  end();
  const digits = words.filter((word) => word !== "computer").join("");
  const command = digits === "" ? "" : `message ${digits}`;
  return [...(words.includes("computer") ? ["computer"] : []), command].join(" ").trim();
}

function wordAt(hz: number): string {
  const nearest = DIGIT_HZ.reduce(
    (best, one, digit) => (Math.abs(one - hz) < Math.abs(DIGIT_HZ[best]! - hz) ? digit : best),
    0,
  );
  return Math.abs(WAKE_HZ - hz) < Math.abs(DIGIT_HZ[nearest]! - hz) ? "computer" : String(nearest);
}

const WAV_HEADER = 44;

/** A service that transcribes, with OpenAI's interface. `tell`: a recording came, or was answered. */
export async function startListener(tell: (moment: "transcribing" | "transcribed") => void) {
  const counts = { open: 0, answered: 0 };
  const server = createServer((request, response) => {
    counts.open += 1;
    tell("transcribing");
    response.once("close", () => {
      counts.open -= 1;
      counts.answered += 1;
      tell("transcribed");
    });
    void buffer(request).then(
      (body) => {
        const wav = body.subarray(body.indexOf("RIFF"));
        const bytes = wav.readUInt32LE(WAV_HEADER - 4);
        const sound = Uint8Array.from(wav.subarray(WAV_HEADER, WAV_HEADER + bytes));
        const text = heardIn(new Int16Array(sound.buffer, 0, sound.length >> 1));
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text }));
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get open() {
      return counts.open;
    },
    get answered() {
      return counts.answered;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
