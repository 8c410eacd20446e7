// A voice note that no player plays, a recording that hangs the service or takes all of its memory, sound that comes back as noise.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isOggOpus,
  oggOpusOf,
  readOggOpus,
  readWav,
  resampled,
  resampledPart,
  type Sound,
  wavOf,
} from "../../src/audio/index.ts";

const { signal } = new AbortController();

function tone(hertz: number, secs: number, sampleRate: number, level = 8_000): Sound {
  const samples = Int16Array.from({ length: secs * sampleRate }, (_, at) =>
    Math.round(level * Math.sin((2 * Math.PI * hertz * at) / sampleRate)),
  );
  return { sampleRate, samples };
}

/** How strong one frequency is in it, by Goertzel: 1 for a tone of `level`. */
function strength({ samples, sampleRate }: Sound, hertz: number, level = 8_000): number {
  let [re, im] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    re += sample * Math.cos((2 * Math.PI * hertz * at) / sampleRate);
    im += sample * Math.sin((2 * Math.PI * hertz * at) / sampleRate);
  }
  return (2 * Math.hypot(re, im)) / samples.length / level;
}

describe("a WAV file", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(
        fc.int16Array({ maxLength: 500 }),
        fc.integer({ min: 4_000, max: 192_000 }),
        (samples, sampleRate) => {
          expect(readWav(wavOf({ sampleRate, samples }))).toEqual({ sampleRate, samples });
        },
      ),
    );
  });

  test("of a program that writes to a pipe has a length that is not true", () => {
    const wav = wavOf(tone(440, 0.1, 22_050));
    new DataView(wav.buffer).setUint32(40, 0x7ffff000, true);
    expect(readWav(wav)!.samples).toHaveLength(2_205);
  });

  test("of two channels and of floats is mixed into one channel of integers", () => {
    const wav = wavOf({ sampleRate: 8_000, samples: Int16Array.of(100, 300, -200, 0) });
    const view = new DataView(wav.buffer);
    view.setUint16(22, 2, true);
    expect([...readWav(wav)!.samples]).toEqual([200, -100]);
    view.setUint16(22, 1, true);
    view.setUint16(20, 3, true);
    view.setUint16(34, 32, true);
    view.setFloat32(44, 0.5, true);
    view.setFloat32(48, Number.NaN, true);
    expect([...readWav(wav)!.samples]).toEqual([16_384, 0]);
  });

  test("that was cut, or altered anywhere, is read as something or not at all, and never throws", () => {
    const wav = wavOf(tone(440, 0.01, 16_000));
    fc.assert(
      fc.property(
        fc.nat(wav.byteLength),
        fc.array(fc.tuple(fc.nat(wav.byteLength - 1), fc.nat(255)), { maxLength: 6 }),
        (length, changes) => {
          const altered = wav.slice();
          for (const [at, value] of changes) altered[at] = value;
          const sound = readWav(altered.subarray(0, length));
          expect(sound?.samples.length ?? 0).toBeLessThanOrEqual(length);
        },
      ),
    );
  });
});

describe("another rate", () => {
  test.each([
    [22_050, 24_000],
    [44_100, 16_000],
    [8_000, 16_000],
  ])("from %i to %i keeps the tone, and nothing that the lower rate can't hold", (from, to) => {
    const resampled = (hertz: number): Sound => ({
      sampleRate: to,
      samples: resampledPart(tone(hertz, 0.5, from), to, 0, to / 2),
    });
    expect(strength(resampled(440), 440)).toBeGreaterThan(0.95);
    // What is above half of the lower rate; of a higher rate nothing is.
    const high = to < from ? resampled(from / 2 - 2_000).samples : new Int16Array(1_000);
    expect(Math.max(...high.slice(200, -200).map(Math.abs))).toBeLessThan(200);
  });

  test("is the same whether it is made as a whole or in parts", () => {
    const sound = tone(300, 0.2, 22_050);
    const whole = resampledPart(sound, 16_000, 0, 3_200);
    const parts = [resampledPart(sound, 16_000, 0, 1_111), resampledPart(sound, 16_000, 1_111, 3_200)];
    expect(parts.flatMap((part) => [...part])).toEqual([...whole]);
  });

  test("of a long sound leaves room for other work", async () => {
    let others = 0;
    const count = setInterval(() => (others += 1), 0);
    const { samples } = await resampled(tone(440, 20, 22_050), 16_000, signal);
    clearInterval(count);
    expect(samples).toHaveLength(320_000);
    expect(others).toBeGreaterThan(5);
  });
});

describe("Ogg Opus", () => {
  test.each([8_000, 16_000, 22_050, 44_100])("of sound at %i Hz is the same tone, and as long", async (rate) => {
    const bytes = await oggOpusOf(tone(440, 1.5, rate), signal);
    expect(isOggOpus(bytes)).toBe(true);
    const back = await readOggOpus(bytes, { sampleRate: 16_000, maxSecs: 10 }, signal);
    // Up to a frame more: the end of the last one is for the granule position to cut.
    expect(back.samples.length / 16_000).toBeGreaterThanOrEqual(1.5);
    expect(back.samples.length / 16_000).toBeLessThan(1.53);
    expect(strength({ ...back, samples: back.samples.subarray(0, 24_000) }, 440)).toBeGreaterThan(0.8);
  });

  test("of nothing is a file, too", async () => {
    const bytes = await oggOpusOf({ sampleRate: 16_000, samples: new Int16Array() }, signal);
    expect((await readOggOpus(bytes, { sampleRate: 16_000, maxSecs: 1 }, signal)).samples.length).toBeLessThan(800);
  });

  test("says that its last sample is where the sound ends", async () => {
    const bytes = await oggOpusOf(tone(440, 1.25, 16_000), signal);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const last = Buffer.from(bytes).lastIndexOf("OggS");
    const preSkip = view.getUint16(28 + 10, true);
    expect(Number(view.getBigInt64(last + 6, true))).toBe(1.25 * 48_000 + preSkip);
    expect(bytes[last + 5]).toBe(4);
  });

  test("that is longer than it may be is refused before all of it is in memory", async () => {
    const bytes = await oggOpusOf(tone(440, 3, 16_000), signal);
    await expect(readOggOpus(bytes, { sampleRate: 16_000, maxSecs: 2 }, signal)).rejects.toMatchObject({
      code: "TRANSCRIPTION_FAILED",
    });
  });

  test("that was cut, or altered anywhere, is read or refused with an error of ours", async () => {
    const bytes = await oggOpusOf(tone(440, 0.2, 16_000), signal);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.byteLength),
        fc.array(fc.tuple(fc.nat(bytes.byteLength - 1), fc.nat(255)), { maxLength: 6 }),
        async (length, changes) => {
          const altered = bytes.slice();
          for (const [at, value] of changes) altered[at] = value;
          const read = readOggOpus(altered.subarray(0, length), { sampleRate: 16_000, maxSecs: 5 }, signal);
          const outcome = await read.then(
            () => "TRANSCRIPTION_FAILED",
            (error: unknown) => (error as { code?: unknown }).code,
          );
          expect(outcome).toBe("TRANSCRIPTION_FAILED");
        },
      ),
    );
  });

  test("ends at once when it is called off", async () => {
    const stop = AbortSignal.abort(new Error("enough"));
    await expect(oggOpusOf(tone(440, 1, 16_000), stop)).rejects.toThrow("enough");
  });
});
