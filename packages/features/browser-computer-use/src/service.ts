/** One request to the service for each action: POST of JSON, answered with JSON. The protocol is on the page docs/guide/browser.md. */
import { createHash } from "node:crypto";
import { type ClientId, type FeatureContext, type FetchResult, SvcError } from "@svc/contract";
import type { BrowserSettings } from "@svc/kit/browser";
import { MAX_X, MAX_Y, type ScreenAction } from "./actions.ts";
import { fieldsOf, parseJson } from "@svc/kit";

export interface ComputerUseService {
  /** Throws BROWSER_UNAVAILABLE where it can't be reached, BROWSER_FAILED where it did not do it. */
  perform(action: ScreenAction, clientId: ClientId, signal: AbortSignal): Promise<Answer>;
}

export function computerUseService(
  settings: BrowserSettings,
  { fetch, build }: Pick<FeatureContext, "fetch" | "build">,
): ComputerUseService {
  const { computer_use_endpoint: endpoint, computer_use_api_key: key = "" } = settings;
  const policy = {
    allowed_domains: settings.allowed_domains,
    window_allowlist: settings.computer_use_windows,
    max_coordinate_x: MAX_X,
    max_coordinate_y: MAX_Y,
  };
  return {
    async perform({ action, ...params }, clientId, signal) {
      const metadata = { session_name: sessionName(clientId), source: "svc.browser", version: build.version };
      const result = await fetch(endpoint, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(key.trim() !== "" && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ action, params, policy, metadata }),
        // A redirect would send the key and the typed text to another host.
        redirects: "none",
        maxBytes: MAX_ANSWER_BYTES,
        timeoutMs: TIMEOUT_MS + ("seconds" in params ? params.seconds * 1000 : 0),
        signal,
      }).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw notReached(cause);
      });
      return answerOf(accepted(result));
    },
  };
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 33_554_432;

/** The same for all of a client's calls, and nothing that can be used as the client. */
const sessionName = (clientId: ClientId): string =>
  `svc-${createHash("sha256").update(`svc.browser\0${clientId}`).digest("hex").slice(0, 32)}`;

function accepted(result: FetchResult): Uint8Array {
  const { status, headers, bytes, truncated } = result;
  if (status === 401 || status === 403) {
    throw new SvcError("BROWSER_UNAVAILABLE", "The computer-use service refuses the key.", {
      hint: "An operator sets browser.computer_use_api_key to the service's key.",
    });
  }
  if (status >= 300 && status < 400) throw broken("redirects, which is not followed");
  if (status !== 200) throw broken(`answered with the status ${status}`);
  if (truncated) throw broken(`answered with more than ${MAX_ANSWER_BYTES / 1_048_576} MiB`);
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw broken("did not answer with JSON");
  return bytes;
}

export const broken = (what: string): SvcError =>
  new SvcError("BROWSER_FAILED", `The computer-use service ${what}.`, {
    hint: "An operator should look at the service at browser.computer_use_endpoint.",
  });

function notReached(cause: unknown): SvcError {
  const late = cause instanceof SvcError && cause.code === "REMOTE_TIMEOUT";
  return late
    ? new SvcError(
        "BROWSER_FAILED",
        "The computer-use service did not answer in time; what was asked may have happened.",
        {
          hint: "Take a screenshot to see the screen as it is now.",
          cause,
        },
      )
    : new SvcError("BROWSER_UNAVAILABLE", "The computer-use service can't be reached.", {
        hint: "An operator starts it, or corrects browser.computer_use_endpoint.",
        cause,
      });
}

/** What the service answers: `{success, data?, error?}`. It is believed only in this form. */
export interface Answer {
  /** Of the page in front, where the service knows it. */
  readonly url: string | undefined;
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly image: Image | undefined;
  /** Pixels. */
  readonly screen: { readonly width: number; readonly height: number } | undefined;
}

interface Image {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Throws BROWSER_FAILED. What the service says of a failure is a stranger's, and not repeated. */
function answerOf(bytes: Uint8Array): Answer {
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
