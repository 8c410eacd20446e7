/** Reads frames of a plugin's process as they come. What does not fit the format ends the process. */
import type { Readable } from "node:stream";
import * as v from "valibot";
import { FRAME_PREFIX_BYTES, type FromProcess, lengthsOf, MAX_HEAD_BYTES } from "./frames.ts";

export interface ReceivedFrame {
  readonly head: FromProcess;
  readonly body: Uint8Array;
}

export interface FrameListener {
  readonly onFrame: (frame: ReceivedFrame) => void;
  /** It broke the format; nothing that follows is read. */
  readonly onBroken: () => void;
}

export function readFrames(stream: Readable, maxBodyBytes: number, { onFrame, onBroken }: FrameListener): void {
  let waiting: Buffer[] = [];
  let size = 0;
  let wanted = FRAME_PREFIX_BYTES;
  const take = (bytes: Buffer): Buffer => {
    const { head, body } = lengthsOf(bytes);
    if (head > MAX_HEAD_BYTES || body > maxBodyBytes) throw new RangeError("the frame is too large");
    const end = FRAME_PREFIX_BYTES + head + body;
    if (bytes.byteLength < end) {
      wanted = end;
      return bytes;
    }
    const text = bytes.toString("utf8", FRAME_PREFIX_BYTES, FRAME_PREFIX_BYTES + head);
    onFrame({ head: v.parse(headSchema, JSON.parse(text)), body: bytes.subarray(FRAME_PREFIX_BYTES + head, end) });
    wanted = FRAME_PREFIX_BYTES;
    return bytes.subarray(end);
  };
  const onData = (chunk: Buffer): void => {
    waiting.push(chunk);
    size += chunk.byteLength;
    if (size < wanted) return;
    try {
      // Joined once for each frame, however many pieces a large one comes in.
      let rest: Buffer = Buffer.concat(waiting, size);
      while (rest.byteLength >= wanted) {
        const left = take(rest);
        if (left === rest) break;
        rest = left;
      }
      waiting = [rest];
      size = rest.byteLength;
    } catch {
      stream.off("data", onData).resume();
      onBroken();
    }
  };
  stream.on("error", () => undefined).on("data", onData);
}

const shortText = v.pipe(v.string(), v.maxLength(MAX_HEAD_BYTES));

const headSchema = v.variant("kind", [
  v.strictObject({ kind: v.literal("ready") }),
  v.strictObject({ kind: v.literal("output") }),
  v.strictObject({
    kind: v.literal("failed"),
    how: v.picklist(["invalid", "reported", "crashed", "stopped"]),
  }),
  v.strictObject({
    kind: v.literal("request"),
    method: shortText,
    url: shortText,
    headers: v.record(v.string(), v.string()),
  }),
  v.strictObject({ kind: v.literal("log") }),
]) satisfies v.GenericSchema<unknown, FromProcess>;
