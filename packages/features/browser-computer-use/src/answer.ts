/** What the service answers: `{success, data?, error?}`. It is believed only in this form. */
import { SvcError } from "@svc/contract";
import { fieldsOf, parseJson } from "@svc/kit";
import { broken } from "./service.ts";

export interface Answer {
  /** Of the page in front, where the service knows it. */
  readonly url: string | undefined;
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly image: Image | undefined;
  /** Pixels. */
  readonly screen: { readonly width: number; readonly height: number } | undefined;
}

export interface Image {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Throws BROWSER_FAILED. What the service says of a failure is a stranger's, and not repeated. */
export function answerOf(bytes: Uint8Array): Answer {
  const { success, data } = fieldsOf(parseJson(bytes));
  if (success === false) {
    throw new SvcError("BROWSER_FAILED", "The computer-use service could not do this.", {
      hint: "Take a screenshot to see the screen as it is now.",
    });
  }
  if (success !== true) throw broken("gave an answer that svc does not understand");
  const { url, title, text, image, width, height } = fieldsOf(data);
  return {
    url: textOf(url),
    title: textOf(title),
    text: textOf(text),
    image: image === undefined || image === null ? undefined : imageOf(image),
    screen: typeof width === "number" && typeof height === "number" ? { width, height } : undefined,
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function imageOf(value: unknown): Image {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) throw broken("sent an image that is none");
  const bytes = Buffer.from(value, "base64");
  const kind = KINDS.find(({ magic }) => bytes.subarray(0, magic.length).equals(magic));
  if (kind === undefined) throw broken("sent an image that is none");
  return { name: kind.name, bytes };
}

const KINDS = [
  { name: "screenshot.png", magic: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { name: "screenshot.jpg", magic: Buffer.from([0xff, 0xd8, 0xff]) },
] as const;
