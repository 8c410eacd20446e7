/** Samples of 16 bits. */

/** Loudness; 1 is the loudest. */
export function rmsOf(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, frame.length)) / 32_768;
}

/** One after the other. */
export function joined(frames: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(frames.reduce((sum, frame) => sum + frame.length, 0));
  let at = 0;
  for (const frame of frames) {
    all.set(frame, at);
    at += frame.length;
  }
  return all;
}
