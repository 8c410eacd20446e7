/** People who speak (espeak-ng), a room with noise in it (sox), and a service that knows by the sound which words it was sent. */
import { execFileSync, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { readWav, resampled, type Sound } from "@svc/kit/audio";
import type { MissingPart } from "@svc/testkit/require-real";

export const RATE = 16_000;
const { signal } = new AbortController();

/** Undefined: all is there. */
export function missingVoices(): MissingPart | undefined {
  const isThere = ["espeak-ng", "sox"].every((program) => spawnSync(program, ["--version"]).error === undefined);
  return isThere ? undefined : { name: "espeak-ng and sox", reason: "not on PATH; apt-get install espeak-ng sox" };
}

const SPEECH_RMS = 0.1;

export async function spoken(text: string): Promise<Int16Array> {
  const wav = readWav(execFileSync("espeak-ng", ["--stdout", "-s", "150", text], { maxBuffer: 64 * 1_048_576 }))!;
  const { samples } = await resampled(wav, RATE, signal);
  const loud = rmsOf(samples.filter((sample) => Math.abs(sample) > 300));
  return trimmed(samples.map((sample) => Math.max(-32_768, Math.min(32_767, (sample * SPEECH_RMS) / loud))));
}

/** Without the silence at both ends. */
function trimmed(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) > 200;
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

const rmsOf = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length)) / 32_768;

/** As sox makes it, at this RMS; again and again from the beginning. */
export function roomOf(
  kind: "brownnoise" | "pinknoise" | "whitenoise",
  rms: number,
): (samples: Int16Array) => Int16Array {
  const args = [
    "-n",
    "-R",
    "-r",
    String(RATE),
    "-b",
    "16",
    "-c",
    "1",
    "-t",
    "raw",
    "-",
    "synth",
    "20",
    kind,
    "vol",
    "0.5",
  ];
  const bytes = execFileSync("sox", args, { maxBuffer: 64 * 1_048_576 });
  const noise = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.byteLength & ~1)));
  const scale = rms / rmsOf(noise);
  let at = 0;
  return (samples) =>
    samples.map((sample) => {
      at = (at + 1) % noise.length;
      return Math.max(-32_768, Math.min(32_767, sample + noise[at]! * scale));
    });
}

export const silence = (ms: number): Int16Array => new Int16Array((ms * RATE) / 1_000);

export function joined(...parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const STEP = 320;
const FFT = 512;
/** Edges of the bands that a voice is in, in bins of 31.25 Hz. */
const BANDS = [6, 10, 14, 19, 25, 32, 41, 52, 66, 84, 106, 134];

type Print = readonly Float64Array[];

/** How strong each band is, every 20 ms. */
function printOf(samples: Int16Array): Print {
  const rows: Float64Array[] = [];
  for (let from = 0; from + FFT <= samples.length; from += STEP) {
    const power = powerOf(samples.subarray(from, from + FFT));
    rows.push(
      Float64Array.from({ length: BANDS.length - 1 }, (_, band) => {
        let sum = 0;
        for (let bin = BANDS[band]!; bin < BANDS[band + 1]!; bin += 1) sum += power[bin]!;
        return Math.log(sum + 1e9);
      }),
    );
  }
  return rows;
}

function powerOf(frame: Int16Array): Float64Array {
  const re = Float64Array.from(frame, (sample, at) => sample * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / FFT)));
  const im = new Float64Array(FFT);
  for (let at = 1, to = 0; at < FFT; at += 1) {
    let bit = FFT >> 1;
    for (; to & bit; bit >>= 1) to ^= bit;
    to ^= bit;
    if (at < to) [re[at], re[to]] = [re[to]!, re[at]!];
  }
  for (let size = 2; size <= FFT; size *= 2) {
    for (let from = 0; from < FFT; from += size) {
      for (let k = 0; k < size / 2; k += 1) {
        const angle = (-2 * Math.PI * k) / size;
        const [wr, wi] = [Math.cos(angle), Math.sin(angle)];
        const [a, b] = [from + k, from + k + size / 2];
        const [xr, xi] = [re[b]! * wr - im[b]! * wi, re[b]! * wi + im[b]! * wr];
        [re[b], im[b]] = [re[a]! - xr, im[a]! - xi];
        [re[a], im[a]] = [re[a]! + xr, im[a]! + xi];
      }
    }
  }
  return re.map((real, at) => real * real + im[at]! * im[at]!);
}

interface Sentence {
  readonly print: Print;
  /** With the times at which each ends, as parts of the whole. */
  readonly words: readonly { readonly text: string; readonly begins: number; readonly ends: number }[];
}

async function sentenceOf(text: string): Promise<Sentence> {
  const whole = await spoken(text);
  const words = text.split(" ");
  const lengths: number[] = [];
  for (let count = 1; count < words.length; count += 1) {
    lengths.push((await spoken(words.slice(0, count).join(" "))).length / whole.length);
  }
  // A sentence that ends sooner is spoken more slowly: no word ends before the one that it follows.
  const ends = [...lengths, 1].map((_, at) =>
    Math.min(1, Math.max(...lengths.slice(0, at + 1), at === lengths.length ? 1 : 0)),
  );
  return {
    print: printOf(whole),
    words: words.map((word, at) => ({ text: word, begins: ends[at - 1] ?? 0, ends: ends[at]! })),
  };
}

/** Alike as two sounds are that are the same but for noise; 0 for two that have nothing to do with each other. */
const ALIKE = 0.5;
/** In frames: less is no word. */
const LEAST = 12;

/** The words whose sound is in the recording, of the sentence that explains most of it. */
function heardIn(samples: Int16Array, sentences: readonly Sentence[]): string {
  const print = printOf(samples);
  let best = { score: 0, text: "" };
  for (const { print: known, words } of sentences) {
    for (let shift = LEAST - known.length; shift <= print.length - LEAST; shift += 1) {
      const from = Math.max(0, -shift);
      const to = Math.min(known.length, print.length - shift);
      if (to - from < Math.min(LEAST, known.length)) continue;
      const { alike, strength } = likeness(known, print, from, to, shift);
      // Silence explains nothing, however much of it there is.
      const score = alike * strength;
      if (alike < ALIKE || score <= best.score) continue;
      const isIn = ({ begins, ends }: (typeof words)[number]): boolean =>
        Math.min(ends, to / known.length) - Math.max(begins, from / known.length) >= 0.7 * (ends - begins);
      const text = words
        .filter(isIn)
        .map((word) => word.text)
        .join(" ");
      best = { score, text };
    }
  }
  return best.text;
}

function likeness(
  known: Print,
  print: Print,
  from: number,
  to: number,
  shift: number,
): { alike: number; strength: number } {
  let [sum, left, right] = [0, 0, 0];
  for (let band = 0; band < BANDS.length - 1; band += 1) {
    let [meanKnown, meanPrint] = [0, 0];
    for (let at = from; at < to; at += 1) {
      meanKnown += known[at]![band]!;
      meanPrint += print[at + shift]![band]!;
    }
    meanKnown /= to - from;
    meanPrint /= to - from;
    for (let at = from; at < to; at += 1) {
      const [a, b] = [known[at]![band]! - meanKnown, print[at + shift]![band]! - meanPrint];
      sum += a * b;
      left += a * a;
      right += b * b;
    }
  }
  return { alike: left === 0 || right === 0 ? 0 : sum / Math.sqrt(left * right), strength: Math.sqrt(right) };
}

export interface Listener extends AsyncDisposable {
  readonly url: string;
  /** What it was sent, in milliseconds, and what it heard in it. */
  readonly heard: readonly { readonly ms: number; readonly text: string }[];
  /** Requests that are not answered yet, and the most that there were at once. */
  readonly open: number;
  readonly mostOpen: number;
}

/** A service with OpenAI's interface that knows these sentences, by their sound alone. */
export async function startListener(texts: readonly string[]): Promise<Listener> {
  const sentences: Sentence[] = [];
  for (const text of texts) sentences.push(await sentenceOf(text));
  const heard: { ms: number; text: string }[] = [];
  const count = { open: 0, most: 0 };
  const server = createServer((request, response) => {
    count.open += 1;
    count.most = Math.max(count.most, count.open);
    void buffer(request).then((body) => {
      const sound: Sound = readWav(body.subarray(body.indexOf("RIFF")))!;
      // Behind the samples is the end of the form.
      const text = heardIn(sound.samples, sentences);
      heard.push({ ms: (sound.samples.length / RATE) * 1_000, text });
      count.open -= 1;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    heard,
    get open() {
      return count.open;
    },
    get mostOpen() {
      return count.most;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
