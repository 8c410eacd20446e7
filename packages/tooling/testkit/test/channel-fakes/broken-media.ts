/** What can be wrong with files. One fake each. */
import { SvcError } from "@svc/contract";
import { type Broken, DEAF, inMedia, inSend } from "./spoil.ts";

const FETCHED = "a file is fetched whole, piece by piece, with its media type";
const NONSENSE = "a ref that is nonsense is refused, and reaches nothing but the platform";

export const BROKEN_MEDIA: readonly Broken[] = [
  [
    "a byte lost",
    FETCHED,
    inMedia((media) => ({
      fetch: (file, write, signal) => media.fetch(file, (chunk) => write(chunk.subarray(1)), signal),
    })),
  ],
  [
    "a type with parameters",
    FETCHED,
    inMedia((media) => ({ fetch: async (...all) => (await media.fetch(...all), { mimeType: "image/png; a=b" }) })),
  ],
  [
    "a larger file than it says",
    "a file that is larger than media.maxBytes is refused, having taken no more than that",
    inMedia(() => ({ maxBytes: 500_000 })),
  ],
  [
    "another way out",
    "nothing is fetched from another host, led there by a link or by a redirect",
    inMedia((media, { config }) => ({
      fetch: async (file, write, signal) => {
        const headers = { authorization: `Bearer ${config.token}` };
        await fetch(`${config.api_url}/files/${file.ref}`, { headers, signal });
        return media.fetch(file, write, signal);
      },
    })),
  ],
  [
    "all errors refusals",
    "what is gone is MEDIA_REFUSED, what may come back is not",
    inMedia((media) => ({
      fetch: (...all) => media.fetch(...all).catch(() => Promise.reject(new SvcError("MEDIA_REFUSED"))),
    })),
  ],
  [
    "nothing for nonsense",
    NONSENSE,
    inMedia((media) => ({ fetch: async (...all) => (all[0].ref.length < 10 ? {} : media.fetch(...all)) })),
  ],
  [
    "an error of the runtime's for nonsense",
    NONSENSE,
    inMedia((media) => ({ fetch: async (...all) => (new URL(`http://${all[0].ref}`), media.fetch(...all)) })),
  ],
  [
    "the writer's error in other words",
    "media.fetch ends with the error of who writes the file down",
    inMedia((media) => ({
      fetch: (...all) => media.fetch(...all).catch(() => Promise.reject(new SvcError("REMOTE_UNREACHABLE"))),
    })),
  ],
  [
    "a fetch that goes on",
    "media.fetch ends at once when it is aborted",
    inMedia((media) => ({ fetch: (file, write) => media.fetch(file, write, DEAF) })),
  ],
  [
    "a file left behind",
    "a file of every kind in media.sends reaches the platform, with a text and without",
    inSend((send) => (message, signal) => send({ ...message, text: message.text || "file", files: [] }, signal)),
  ],
  [
    "a text without its file",
    "a file that can't be read any more is DELIVERY_REFUSED",
    inSend((send) => (message, signal) => send(message, signal).catch(() => send({ ...message, files: [] }, signal))),
  ],
];
