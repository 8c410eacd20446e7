/** Files: in, whole and never larger than they may be, from no host but the platform's; out, as they are. */
import { type InboundMedia, type Media, SvcError } from "@svc/contract";
import { randomBytes } from "node:crypto";
import { type Check, demand, outcomeOf, errorText } from "../../check.ts";
import { startPlatform } from "../../platforms/base.ts";
import { failsWhenAborted, failsWith, LATER, NEVER, rejects, worksOut } from "./judge.ts";
import { type Bench, type OpenChannel, withChannel } from "./open.ts";
import type { MediaSubject } from "./subject.ts";

export function mediaChecks(bench: Bench): Check[] {
  const { promptMs, subject } = bench;
  if (subject.media === undefined) return [undeclared(bench)];
  const files: MediaSubject<never> = subject.media;
  const fileOf = ({ platform }: OpenChannel, bytes: Uint8Array) => files.file(platform as never, bytes);
  const check = (name: string, run: (opened: OpenChannel, media: Media) => Promise<void>): Check => ({
    name,
    run: () =>
      withChannel(bench, async (opened) => {
        const { media } = opened.channel;
        demand(media !== undefined, "the channel has no `media`");
        await run(opened, media);
      }),
  });
  const refusedFetch = (opened: OpenChannel, media: Media, file: InboundMedia, codes: readonly SvcError["code"][]) =>
    failsWith(opened, "media.fetch", () => media.fetch(file, async () => undefined, NEVER), codes, promptMs);

  return [
    check("a file is fetched whole, piece by piece, with its media type", async (opened, media) => {
      const bytes = randomBytes(300_000);
      const file = await fileOf(opened, bytes);
      const got = collector();
      const { mimeType } = await worksOut(opened, "media.fetch", () => media.fetch(file, got.write, NEVER), promptMs);
      demand(Buffer.concat(got.chunks).equals(bytes), "the bytes are others than the platform's");
      demand(mimeType === undefined || /^[\w.+-]+\/[\w.+-]+$/.test(mimeType), "mimeType is not type/subtype");
    }),
    check(
      "a file that is larger than media.maxBytes is refused, having taken no more than that",
      async (opened, media) => {
        const file = await fileOf(opened, Buffer.alloc(media.maxBytes + 1));
        const got = collector();
        const work = () => media.fetch(file, got.count, NEVER);
        await failsWith(opened, "media.fetch of a larger file", work, ["MEDIA_REFUSED"], promptMs * 6);
        demand(got.total() <= media.maxBytes, "more than maxBytes were written");
      },
    ),
    check("nothing is fetched from another host, led there by a link or by a redirect", async (opened, media) => {
      await using elsewhere = await startPlatform(() => ({ bytes: Buffer.from("from elsewhere") }));
      const link = await files.leadingTo(opened.platform as never, `${elsewhere.url}/file`);
      await refusedFetch(opened, media, link, ["MEDIA_REFUSED"]);
      const file = await fileOf(opened, Buffer.from("file"));
      opened.platform.mood = { redirects: `${elsewhere.url}/file` };
      await refusedFetch(opened, media, file, ["MEDIA_REFUSED", ...LATER]);
      demand(elsewhere.requests.length === 0, "another host was asked");
    }),
    check("what is gone is MEDIA_REFUSED, what may come back is not", async (opened, media) => {
      const file = await fileOf(opened, Buffer.from("file"));
      opened.platform.mood = { refuses: 404 };
      await refusedFetch(opened, media, file, ["MEDIA_REFUSED"]);
      for (const mood of [{ refuses: 500 }, { rateLimits: 1 }, "resets"] as const) {
        opened.platform.mood = mood;
        await refusedFetch(opened, media, file, LATER);
      }
    }),
    check("a ref that is nonsense is refused, and reaches nothing but the platform", async (opened, media) => {
      const file = await fileOf(opened, Buffer.from("file"));
      for (const ref of NONSENSE) {
        const got = collector();
        const work = () => media.fetch({ ...file, ref }, got.write, NEVER);
        const error = await rejects(opened, `media.fetch of ${JSON.stringify(ref.slice(0, 40))}`, work, promptMs);
        demand(error instanceof SvcError, `it throws ${errorText(error)}`);
      }
    }),
    check("media.fetch ends with the error of who writes the file down", async (opened, media) => {
      const file = await fileOf(opened, Buffer.from("file"));
      const full = new SvcError("STORE_FULL");
      const outcome = await outcomeOf(() => media.fetch(file, () => Promise.reject(full), NEVER), promptMs);
      demand(outcome.kind === "rejected" && outcome.error === full, "that error does not come out");
    }),
    check("media.fetch ends at once when it is aborted", async (opened, media) => {
      const file = await fileOf(opened, Buffer.from("file"));
      await failsWhenAborted(
        opened,
        "media.fetch",
        (signal) => media.fetch(file, async () => undefined, signal),
        promptMs,
      );
    }),
    check(
      "a file of every kind in media.sends reaches the platform, with a text and without",
      async (opened, media) => {
        for (const kind of media.sends) {
          const bytes = randomBytes(2048);
          const file = { kind, ...TYPES[kind], read: async () => bytes };
          for (const text of ["With a file", ""]) {
            const message = opened.message(text, { files: [file], deliveryId: `delivery ${kind} ${text}` });
            await worksOut(opened, `send of ${kind}`, () => opened.channel.send(message, NEVER), promptMs);
          }
          demand(wasSent(opened.platform.requests, bytes), `the bytes of the ${kind} did not reach the platform`);
        }
      },
    ),
    check("a file that can't be read any more is DELIVERY_REFUSED", async (opened, media) => {
      const [kind] = media.sends;
      if (kind === undefined) return;
      const read = () => Promise.reject(new SvcError("DELIVERY_REFUSED", "The file is gone."));
      const message = opened.message("With a file", { files: [{ kind, ...TYPES[kind], read }] });
      await failsWith(opened, "send", () => opened.channel.send(message, NEVER), ["DELIVERY_REFUSED"], promptMs);
    }),
  ];
}

const undeclared = (bench: Bench): Check => ({
  name: "a channel that fetches files hands in `media`",
  run: () =>
    withChannel(bench, async ({ channel }) =>
      demand(channel.media === undefined, "the channel has `media`, and its tests hand in no files"),
    ),
});

const NONSENSE = [
  "",
  " ",
  "not-a-url",
  "../../etc/passwd",
  "file:///etc/passwd",
  "http://",
  "x".repeat(10_000),
  "\u0000",
];

const TYPES = {
  image: { name: "picture.png", mimeType: "image/png" },
  audio: { name: "voice.mp3", mimeType: "audio/mpeg" },
  video: { name: "film.mp4", mimeType: "video/mp4" },
  document: { name: "paper.pdf", mimeType: "application/pdf" },
  sticker: { name: "sticker.webp", mimeType: "image/webp" },
} as const;

function collector() {
  const chunks: Uint8Array[] = [];
  let total = 0;
  return {
    chunks,
    total: () => total,
    write: async (chunk: Uint8Array) => void chunks.push(chunk.slice()),
    count: async (chunk: Uint8Array) => void (total += chunk.length),
  };
}

/** As they are, or in base64 in whatever they were put into. */
function wasSent(requests: readonly unknown[], bytes: Uint8Array): boolean {
  const encoded = Buffer.from(bytes).toString("base64").replaceAll("=", "");
  return requests.some((request) => {
    const { body } = request as { body?: unknown };
    if (!(body instanceof Uint8Array)) return false;
    const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (whole.includes(bytes)) return true;
    const text = whole.toString("latin1").replaceAll(/\s/g, "");
    return text.includes(encoded) || text.includes(encoded.replaceAll("+", "-").replaceAll("/", "_"));
  });
}
