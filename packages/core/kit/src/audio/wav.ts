/** Sound of one channel as samples, and as a WAV file of 16-bit PCM. */

export interface Sound {
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

/** http://www-mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html */
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const MAX_CHANNELS = 16;

/**
 * A WAV file of 16-bit integers or 32-bit floats, its channels mixed into one; undefined for anything else. Programs that write to a
 * pipe can't fill in the length of the data, so the actual length counts.
 */
export function readWav(bytes: Uint8Array): Sound | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 12 || nameAt(bytes, 0) !== "RIFF" || nameAt(bytes, 8) !== "WAVE") return undefined;
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.byteLength;) {
    const [name, size, from] = [nameAt(bytes, at), view.getUint32(at + 4, true), at + 8];
    if (name === "fmt ") {
      format = formatAt(view, from, size);
      if (!format) return undefined;
    } else if (name === "data") {
      return format && samplesOf(view, format, from, Math.min(size, bytes.byteLength - from));
    }
    // Chunks begin at even places.
    at = from + size + (size % 2);
  }
  return undefined;
}

interface Format {
  readonly isFloat: boolean;
  readonly channels: number;
  readonly sampleRate: number;
}

function formatAt(view: DataView, at: number, size: number): Format | undefined {
  if (size < 16 || at + size > view.byteLength) return undefined;
  const tag = view.getUint16(at, true);
  const kind = tag === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : tag;
  const channels = view.getUint16(at + 2, true);
  const sampleRate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const isFloat = kind === FLOAT && bits === 32;
  if (!isFloat && !(kind === PCM && bits === 16)) return undefined;
  if (channels < 1 || channels > MAX_CHANNELS || sampleRate < 4_000 || sampleRate > 384_000) return undefined;
  return { isFloat, channels, sampleRate };
}

function samplesOf(view: DataView, { isFloat, channels, sampleRate }: Format, from: number, length: number): Sound {
  const width = isFloat ? 4 : 2;
  const count = Math.floor(length / (width * channels));
  const samples = new Int16Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      const at = from + (frame * channels + channel) * width;
      sum += isFloat ? view.getFloat32(at, true) * 32_768 : view.getInt16(at, true);
    }
    samples[frame] = clipped(sum / channels);
  }
  return { sampleRate, samples };
}

/** Not a number becomes silence. */
const clipped = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value) || 0));

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));

export function wavOf({ sampleRate, samples }: Sound): Uint8Array {
  const bytes = new Uint8Array(44 + samples.length * 2);
  const view = new DataView(bytes.buffer);
  const name = (text: string, at: number): void => bytes.set(new TextEncoder().encode(text), at);
  name("RIFF", 0);
  view.setUint32(4, bytes.byteLength - 8, true);
  name("WAVEfmt ", 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  name("data", 36);
  view.setUint32(40, samples.length * 2, true);
  for (const [index, sample] of samples.entries()) view.setInt16(44 + index * 2, sample, true);
  return bytes;
}

/** Zero crossings of the filter on each side: enough for speech. */
const CROSSINGS = 12;

/** The samples `from` to `to` of the sound at another rate, by a windowed sinc; above half of the lower rate nothing is left. */
export function resampledPart({ samples, sampleRate }: Sound, rate: number, from: number, to: number): Int16Array {
  if (rate === sampleRate) return samples.slice(from, to);
  const step = sampleRate / rate;
  const cutoff = Math.min(1, rate / sampleRate);
  const reach = CROSSINGS / cutoff;
  const part = new Int16Array(Math.max(0, to - from));
  for (let index = 0; index < part.length; index += 1) {
    const center = (from + index) * step;
    const last = Math.min(samples.length - 1, Math.floor(center + reach));
    let [sum, weights] = [0, 0];
    for (let at = Math.max(0, Math.ceil(center - reach)); at <= last; at += 1) {
      const weight = windowedSinc((at - center) * cutoff);
      sum += samples[at]! * weight;
      weights += weight;
    }
    part[index] = clipped(weights === 0 ? 0 : sum / weights);
  }
  return part;
}

function windowedSinc(x: number): number {
  if (x === 0) return 1;
  const angle = Math.PI * x;
  return (Math.sin(angle) / angle) * (0.5 + 0.5 * Math.cos(angle / CROSSINGS));
}

/** All of it at another rate; yields to other work after each second. */
export async function resampled(sound: Sound, rate: number, signal: AbortSignal): Promise<Sound> {
  const samples = new Int16Array(lengthAt(sound, rate));
  for (let from = 0; from < samples.length; from += rate) {
    signal.throwIfAborted();
    samples.set(resampledPart(sound, rate, from, Math.min(from + rate, samples.length)), from);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { sampleRate: rate, samples };
}

/** How many samples the sound has at that rate. */
export const lengthAt = ({ samples, sampleRate }: Sound, rate: number): number =>
  rate === sampleRate ? samples.length : Math.round((samples.length * rate) / sampleRate);
