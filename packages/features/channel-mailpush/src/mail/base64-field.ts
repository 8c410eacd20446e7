/**
 * The bytes in one base64 text of a JSON answer, as they come: read as a whole, a file of 25 MiB would take five times that
 * much memory.
 */
import { SvcError } from "@svc/contract";

export interface Base64Field {
  take(chunk: Uint8Array): Promise<void>;
  /** Throws REMOTE_UNREACHABLE unless the text came to its end, with this many bytes in it. */
  end(sizeBytes: number): void;
}

/** Throws MEDIA_REFUSED where there are more than `maxBytes`; what `write` throws comes out as it is. */
export function base64Field(name: string, maxBytes: number, write: (bytes: Uint8Array) => Promise<void>): Base64Field {
  const beginning = new RegExp(`"${name}"\\s*:\\s*"`);
  /** Before the text: the end of what came. In it: up to three characters that wait for the fourth. */
  let rest = "";
  let state: "before" | "inside" | "after" = "before";
  let total = 0;

  const decode = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text, "base64");
    if (bytes.length === 0) return;
    total += bytes.length;
    if (total > maxBytes) throw new SvcError("MEDIA_REFUSED", "The file is larger than 25 MiB.");
    await write(bytes);
  };

  return {
    async take(chunk) {
      let text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
      if (state === "before") {
        const found = beginning.exec(text);
        rest = text.slice(-MAX_BEGINNING_CHARS);
        if (found === null) return;
        state = "inside";
        text = text.slice(found.index + found[0].length);
      }
      if (state === "after") return;
      const end = text.indexOf('"');
      if (end >= 0) state = "after";
      const whole = end >= 0 ? end : text.length - (text.length % 4);
      rest = end >= 0 ? "" : text.slice(whole);
      await decode(text.slice(0, whole));
    },
    end(sizeBytes) {
      if (state === "after" && total === sizeBytes) return;
      throw new SvcError("REMOTE_UNREACHABLE", "The file did not come whole.");
    },
  };
}

/** `"data": "`, with white space as nobody writes it. */
const MAX_BEGINNING_CHARS = 64;
